import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { writeMeta } from '../../src/store/kinds/meta.ts';
import { saveBlock } from '../../src/store/outbox/outbox-queue.ts';
import { changeEntry, findEntry } from '../../src/store/outbox/outbox-store.ts';
import { saveAbsences } from '../../src/store/records/deletion-store.ts';
import { appendChanges } from '../../src/store/records/change-store.ts';
import { saveUnlisted } from '../../src/store/sightings/sighting-store.ts';
import type { StatusDocument } from '../../src/checks/status-document.ts';
import type { Session } from '../../src/db/session/session.ts';
import { freeze } from '../../src/store/outbox/freeze-store.ts';
import { ONE_DATABASE } from '../store/databases.ts';
import { NOON, NOON_TEXT, later, putRecords, tempMirror } from '../store/temp-mirror.ts';
import { TWO_KINDS } from '../support/postgres-templates.ts';
import { noteRefusal } from '../../src/store/runs/run-store.ts';
import { saveHeartbeat } from '../../src/store/runs/worker-store.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { TOKEN, serveMirror, signIn, type Stage } from '../http/stage.ts';

const ADA = '{"operation":"create","kind":"clients","data":{"code":"C-1","name":"Ada"}}';

const pageOf = async ({ get }: Stage, path = '/'): Promise<string> => (await get(path)).text();

/** Two clients that are held, and a create that is parked with one candidate. */
async function inNeed(session: Session, stage: Stage): Promise<void> {
  const absence = { sweep: 1, absentSince: NOON, firstGoneAt: null, isCertified: true, lastSeenAt: null };
  await stage.post('/v1/outbox', ADA, { 'idempotency-key': 'ada' });
  const epoch = (await findEntry(session, 1))?.epoch ?? 0;
  const patch = { state: 'parked', verdict: 'look_alike', settlement: { ids: ['501'] } } as const;
  await session.atomically(async (tx) => {
    await putRecords(tx, 'clients', [{ id: '501' }]);
    await saveAbsences(tx, 'clients', [{ ...absence, id: '9', state: 'held' }]);
    await changeEntry(tx, { id: 1, epoch, patch, now: NOON });
  });
}

/** Posts a form as a browser that has signed in. */
async function submit(
  stage: Stage,
  path: string,
  values: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const headers = { cookie: await signIn(stage), origin: stage.url };
  const body = new URLSearchParams(values);
  return fetch(stage.url + path, { method: 'POST', body, headers, redirect: 'manual' });
}

describe.each(ONE_DATABASE)('the overview of a mirror in %s', (_name, open) => {
  test('says first what waits for a person, with a button for each decision and what it does', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await inNeed(session, stage);
    await session.atomically(async (tx) => {
      await saveBlock(tx, { kind: 'products', reason: 'forbidden', now: NOON, probeAt: NOON });
      await freeze(tx, 'the database was restored', NOON);
      await tx.insertRows({
        table: 'webhook_endpoints',
        columns: ['name', 'public_id', 'url', 'cursor', 'state', 'disabled_reason'],
        rows: [['erp', 'p', 'https://example.com/', 7, 'disabled', 'gone']],
      });
    });
    const page = await pageOf(stage);
    for (const expected of [
      'Sends are paused',
      'Writes of products are refused',
      '1 deletion of clients is held',
      'Entry 1 is parked',
      'The endpoint erp is disabled',
      'It answered 410 Gone',
    ])
      expect(page).toContain(expected);
    const actions = [...page.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, action]) => action);
    expect(actions).toEqual([
      '/outbox/resume',
      '/deletions/clients/approve',
      '/deletions/clients/reject',
      '/outbox/1/adopt',
      '/outbox/1/retry',
      '/outbox/1/abandon',
      '/webhooks/erp/enable',
      '/webhooks/erp/replay',
    ]);
    expect(page.indexOf('Needs you')).toBeLessThan(page.indexOf('Record kinds'));
  });

  test('says that entries wait and nothing is sent, until a process sends', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await stage.post('/v1/outbox', ADA, { 'idempotency-key': 'ada' });
    expect(await pageOf(stage)).toMatch(
      /1 entry waits to be sent.*Nothing is sent: no bms-sync serve is running/s,
    );
    await saveHeartbeat(session, { owner: 'elsewhere:1:a', roles: ['outbound'] });
    expect(await pageOf(stage)).not.toContain('waits to be sent');
  });

  test('shows the latest changes with the values before and after, and the changes of each hour', async () => {
    const session = await open();
    const stage = await serveMirror(session, { clock: { ...fakeClock(), now: () => later(60_000) } });
    const event = (seq: number, name: string) => ({
      recordId: '17',
      change: 'updated',
      observedFrom: NOON_TEXT,
      before: '{}',
      after: `{"name":"${name}"}`,
      fields: JSON.stringify({ name: [`Ada ${seq}`, name] }),
    });
    const append = (events: object[]): Promise<void> =>
      session.atomically((tx) =>
        appendChanges(tx, {
          kind: 'clients',
          events: events as never,
          origin: 'service',
          runId: null,
          now: NOON,
        }),
      );
    await append([event(1, 'Bea'), event(2, '<i>')]);
    const page = await pageOf(stage);
    expect(page).toMatch(
      /<del>Ada 2<\/del>[^]*<ins>&lt;i&gt;<\/ins>[^]*<del>Ada 1<\/del>[^]*<ins>Bea<\/ins>/,
    );
    expect(page).toContain('aria-label="2 changes in 48 hours, 2 in the busiest one"');
    expect(page).toContain('data-after="2"');
    await append([event(3, 'Cy')]);
    expect(await pageOf(stage)).toContain('aria-label="3 changes in 48 hours, 3 in the busiest one"');
  });
});

describe.each(ONE_DATABASE)('the overview of a mirror in %s', (_name, open) => {
  test('is calm where nothing waits for a person', async () => {
    const page = await pageOf(await serveMirror(await open()));
    expect(page).toContain('Nothing needs you');
    expect(page).toContain('None is certified now');
    expect(page).not.toContain('<form method="post"');
  });

  test('says since when the service fails, and when it is tried again', async () => {
    const session = await open();
    await session.atomically(async (tx) => {
      const kinds = ['clients', 'products'];
      await tx.query(sql`
        insert into runs (id, command, kinds, state, requested_at, finished_at, epoch, slot) values
          (1, 'pull', ${JSON.stringify(kinds)}, 'incomplete', ${NOON_TEXT}, ${NOON_TEXT}, 1, 'all@2026-03-01T12:00:00.000Z')`);
      for (const kind of kinds) {
        await tx.query(sql`
          insert into run_kinds values
            (1, ${kind}, 'aborted', 'unavailable', null, null, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, ${NOON_TEXT}, 0)`);
        await tx.query(sql`
          insert into kind_state (kind, tick, state, reason, last_sweep_at, certified_at, complete_sweeps, epoch)
          values (${kind}, 1, 'aborted', 'unavailable', ${NOON_TEXT}, ${NOON_TEXT}, 3, 0)`);
      }
    });
    const names = { name: 'all', timezone: 'UTC', kinds: ['clients', 'products'], pages: null };
    const clock = { ...fakeClock(), now: () => later(30_000) };
    const stage = await serveMirror(session, { clock, schedules: [{ ...names, cron: '0 * * * *' }] });
    const page = await pageOf(stage);
    expect(page).toContain('Nothing needs you');
    expect(page).toMatch(
      /clients, products: the service was not available, first <time[^]*?To be read again: next <time/,
    );
    expect(page).not.toContain('not certified yet');
  });

  test('promises no pull where nothing but a decision keeps a list uncertified', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await session.atomically(async (tx) => {
      for (const kind of ['clients', 'products'])
        await tx.query(sql`insert into kind_state (kind, tick, state, reason, last_sweep_at, complete_sweeps, epoch)
          values (${kind}, 1, 'complete', 'absences_unproven', ${NOON_TEXT}, 3, 0)`);
      const absence = { id: '9', sweep: 1, absentSince: NOON, firstGoneAt: null, lastSeenAt: null };
      for (const kind of ['clients', 'products'])
        await saveAbsences(tx, kind, [{ ...absence, isCertified: true, state: 'rejected' }]);
    });
    const page = await pageOf(stage);
    expect(page).toContain('1 row has left the list and stays, as a person decided');
    expect(page).not.toContain('next pull');
  });

  test('carries out a decision of a form as the API does, and says so on the way back', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await inNeed(session, stage);
    const approved = await submit(stage, '/deletions/clients/approve', { back: '/deletions' });
    expect([approved.status, approved.headers.get('location')]).toEqual([
      303,
      '/deletions?done=deletions%20approve',
    ]);
    const adopted = await submit(stage, '/outbox/1/adopt', { recordId: '501' });
    expect([adopted.status, adopted.headers.get('location')]).toEqual([303, '/?done=outbox%20adopt']);
    expect(await findEntry(session, 1)).toMatchObject({ state: 'done', recordId: '501' });
    expect(await session.query(sql`select state from deletions`)).toEqual([{ state: 'approved' }]);
    expect(await pageOf(stage, '/?done=outbox%20adopt')).toContain('Adopted: the entry is done');
    const again = await submit(stage, '/outbox/1/adopt', { recordId: '501' });
    expect([again.status, again.headers.get('content-type')]).toEqual([409, 'text/html; charset=utf-8']);
    expect(await again.text()).toContain('Entry 1 is done');
  });

  test('asks for a pull by a form, and returns to no other site', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    const asked = await submit(stage, '/pulls', { kinds: 'clients' });
    expect(asked.headers.get('location')).toBe('/?done=pull');
    expect(await session.query(sql`select kinds, state from runs`)).toEqual([
      { kinds: '["clients"]', state: 'requested' },
    ]);
    for (const back of ['//evil.example', 'https://evil.example', '/\\evil.example', '/x?y'])
      expect((await submit(stage, '/pulls', { kinds: 'clients', back })).status).toBe(400);
  });

  test('shows a refused token once for all kinds, and offers no pull', async () => {
    const session = await open();
    await session.atomically(async (tx) => {
      await noteRefusal(tx, '1', NOON);
      await tx.query(sql`
        insert into kind_state (kind, tick, state, reason, complete_sweeps, epoch) values
          ('clients', 1, 'aborted', 'unauthorized', 0, 0), ('products', 1, 'aborted', 'unauthorized', 0, 0)`);
    });
    const page = await pageOf(await serveMirror(session));
    expect(page).toContain('2 lists were not read to their end: clients, products');
    expect(page).toContain('The service refuses the token');
    expect(page).toContain('bms-sync doctor names the setting that has it');
    expect(page).not.toContain('action="/pulls"');
  });

  test('says when each kind is read next, and which ones are stale', async () => {
    const session = await open();
    const hourly = {
      name: 'all',
      cron: '0 * * * *',
      timezone: 'UTC',
      kinds: ['clients', 'products'],
      pages: null,
    };
    const clock = { ...fakeClock(), now: () => later(5 * 3_600_000) };
    const stage = await serveMirror(session, { clock, schedules: [hourly] });
    const applies = JSON.stringify([JSON.stringify(hourly), NOON]);
    await session.atomically((tx) => writeMeta(tx, 'applies.all', applies));
    await session.atomically((tx) =>
      tx.query(sql`
        insert into kind_state (kind, tick, state, complete_sweeps, epoch, last_sweep_at)
        values ('clients', 9, 'certified', 7, 1, ${NOON_TEXT}),
          ('products', 9, 'certified', 7, 1, '2026-03-01 16:55:00.000')`),
    );
    await session.atomically((tx) =>
      tx.query(sql`update kind_state set state = 'aborted', reason = 'unavailable'`),
    );
    expect(await pageOf(stage)).toContain('None is certified now: the mirror may differ from the lists');
    await session.atomically((tx) => tx.query(sql`update kind_state set state = 'certified', reason = null`));
    const page = await pageOf(stage);
    expect(page).toContain('The list of clients is stale');
    expect(page).not.toContain('The list of products is stale');
    expect(page).toMatch(/next <time[^>]*>in 60 min</);
  });
});

test('rows that single answers alone have shown stand beside the rows of their list; those that left it count as deletions', async () => {
  const session = await tempMirror(TWO_KINDS);
  const absence = { sweep: 1, absentSince: NOON, firstGoneAt: null, isCertified: true, lastSeenAt: null };
  await session.atomically(async (tx) => {
    const listed = { _listed: 1 };
    await putRecords(tx, 'clients', [
      { id: '1', ...listed },
      { id: '2', ...listed },
      { id: '3', ...listed },
    ]);
    await putRecords(tx, 'clients', [{ id: '501' }, { id: '502' }, { id: '503', _deleted_at: NOON_TEXT }]);
    await saveUnlisted(tx, 'clients', ['2', '501', '502', '503']); // A list has shown 2 since.
    await saveAbsences(tx, 'clients', [
      { ...absence, id: '3', state: 'unlisted' },
      { ...absence, id: '502', state: 'held' },
    ]);
  });
  const stage = await serveMirror(session);
  const { kinds } = (await (await stage.get('/v1/status')).json()) as StatusDocument;
  expect(kinds.find(({ kind }) => kind === 'clients')).toMatchObject({ rows: 5, singleRows: 2 });
  const shown = '2 not in the list: shown by single answers alone';
  for (const path of ['/', '/kinds/clients']) expect(await pageOf(stage, path)).toContain(shown);
});

test('where lists are being read, the overview counts those that are certified', async () => {
  const session = await tempMirror(TWO_KINDS);
  await session.atomically((tx) =>
    tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, epoch, last_sweep_at, certified_at, lease_until)
      values ('clients', 9, 'running', 7, 1, ${NOON_TEXT}, ${NOON_TEXT}, '2999-01-01 00:00:00.000'),
        ('products', 9, 'certified', 7, 1, ${NOON_TEXT}, ${NOON_TEXT}, null)`),
  );
  const page = await pageOf(await serveMirror(session));
  expect(page).toContain('1 of 2 is certified');
  expect(page).toContain('being read');
});

test('without a token nothing can be decided on the page', async () => {
  const session = await tempMirror(TWO_KINDS);
  const signed = await serveMirror(session);
  await inNeed(session, signed);
  const page = await pageOf(await serveMirror(session, { token: null }));
  expect(page).toContain('Entry 1 is parked');
  expect(page).not.toContain('<form method="post"');
});

test('a person who followed a link comes to its page after signing in, and to no other site', async () => {
  const session = await tempMirror(TWO_KINDS);
  const stage = await serveMirror(session);
  const asked = await fetch(`${stage.url}/issues?kind=clients`);
  expect([asked.status, await asked.text()]).toEqual([
    401,
    expect.stringContaining('value="/issues?kind=clients"'),
  ]);
  const goes = async (next: string): Promise<string | null> =>
    (await stage.post('/login', { token: TOKEN, next })).headers.get('location');
  expect(await goes('/issues?kind=clients')).toBe('/issues?kind=clients');
  for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example', '/\n/evil.example'])
    expect(await goes(next)).toBe('/');
});
