import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { clients } from '../../../src/catalog/kinds/clients.ts';
import { saveFields } from '../../../src/store/kinds/field-store.ts';
import { applyRetention } from '../../../src/pull/retention.ts';
import { formatInstant } from '../../../src/lib/time/clock.ts';
import { freeze } from '../../../src/store/outbox/freeze-store.ts';
import { readNeeds } from '../../../src/needs/read-needs.ts';
import { probeBlocks } from '../../../src/store/outbox/outbox-queue.ts';
import { explain } from '../../../src/words/verdicts.ts';
import { resumeSends } from '../../../src/outbound/freeze.ts';
import { abandonEntry, retryEntry } from '../../../src/outbound/decisions/decide.ts';
import { readHistory } from '../../../src/outbound/decisions/entry-list.ts';
import { isEnough } from '../../../src/outbound/send/claim.ts';
import { isCurrent } from '../../../src/outbound/last-break.ts';
import { DATABASES, NOON, instantAt } from '../../pull/steps.ts';
import { KEEP_ALL } from '../../support/retention.ts';
import { ZOE, asked, create, enter, opened, spoil, textOf, update, zoes, type Stage } from '../stage.ts';

/** Inserts an entry as an application does: nothing but what the contract names. */
async function insertRow(on: Stage, columns: Readonly<Record<string, string | null>>): Promise<number> {
  const { key = 'k', kind = 'clients', operation = 'create', payload = '{}', id = null } = columns;
  const allowed = Number(columns['unknown'] ?? 0);
  const [row] = await on.session.atomically((tx) =>
    tx.query(sql`
      insert into outbox (idempotency_key, kind, operation, payload, record_id, allow_unknown)
      values (${key}, ${kind}, ${operation}, ${payload}, ${id}, ${allowed}) returning id`),
  );
  return Number(row?.['id']);
}

describe.each(DATABASES)('a row that an application inserts in %s', (database) => {
  test('is checked and sent', async () => {
    const on = await opened({ database });
    const id = await insertRow(on, { payload: '{ "code": "ZZ-1", "name": "Zoé", "adresse2": "Rue 3" }' });
    await on.work();
    const entry = await on.entry(id);
    expect(entry).toMatchObject({ state: 'done', verdict: 'sent' });
    expect(entry.naturalKey).toContain('ZZ-1');
    expect(JSON.parse(entry.payload)).toEqual({ ...ZOE, address2: 'Rue 3' });
  });

  test('is parked however long its natural key is', async () => {
    const on = await opened({ database });
    const name = 'é'.repeat(3000);
    enter(on, { code: 'X', name });
    await on.pull('clients');
    const id = await insertRow(on, { payload: JSON.stringify({ name }) });
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'existed' });
  });
});

describe('a row that an application inserts', () => {
  test('is rejected with all its faults where it cannot be sent', async () => {
    const on = await opened();
    const rows = [
      { key: 'a', payload: 'no JSON' },
      { key: 'b', payload: '{"credit":"much"}' },
      { key: 'c', kind: 'nothings', payload: '{"a":1}' },
      { key: 'd', operation: 'delete', payload: '{"a":1}' },
      { key: 'e', operation: 'update', payload: '{"name":"a"}' },
      { key: 'f', payload: '{}' },
      { key: 'g', payload: '{"code":"ZZ-1","nmae":"Zoé"}' },
      { key: 'plan:3:2', payload: '{"code":"ZZ-1","name":"Zoé"}' },
    ];
    const ids: number[] = [];
    for (const row of rows) ids.push(await insertRow(on, row));
    await on.work();
    for (const id of ids) {
      const entry = await on.entry(id);
      expect(entry).toMatchObject({ state: 'rejected', verdict: 'invalid', owner: null, attempts: 0 });
      expect((JSON.parse(entry.result ?? '{}') as { faults: string[] }).faults.length).toBeGreaterThan(0);
    }
    expect(asked(on, 'POST')).toEqual([]);
  });

  test('is rejected with a guess where it names a field that nobody knows, and sent where it allows that', async () => {
    const on = await opened();
    const payload = '{"code":"ZZ-1","name":"Zoé","nmae":"Zoé"}';
    const wrong = await insertRow(on, { key: 'wrong', payload });
    const meant = await insertRow(on, { key: 'meant', payload, unknown: '1' });
    await on.work();
    const refused = await on.entry(wrong);
    expect(refused).toMatchObject({ state: 'rejected', verdict: 'invalid', attempts: 0 });
    expect(refused.result).toContain('nmae: clients has no such field');
    expect(refused.result).toContain('did you mean name?');
    expect(await on.entry(meant)).toMatchObject({ state: 'done', payload });
  });

  test('is parked where a record has its natural key, and sent where it allows a second one', async () => {
    const on = await opened();
    const there = enter(on, ZOE);
    await on.pull('clients');
    const payload = '{"code":"ZZ-1","name":"Another"}';
    const id = await insertRow(on, { key: 'a', payload });
    await on.work();
    const parked = await on.entry(id);
    expect(parked).toMatchObject({ state: 'parked', verdict: 'existed', attempts: 0 });
    expect(JSON.parse(parked.result ?? '')).toEqual({ ids: [there] });
    const meant = await insertRow(on, { key: 'b', payload: '{"code":"ZZ-1","name":"Third"}' });
    await on.session.atomically((tx) =>
      tx.query(sql`update outbox set allow_double = 1 where id = ${meant}`),
    );
    await abandonEntry(on.session, id, on.clock.now());
    await on.work();
    expect(await on.entry(meant)).toMatchObject({ state: 'done', verdict: 'sent' });
    expect(zoes(on)).toBe(2);
  });

  test('is sent where a person who has seen the record with its key asks for it', async () => {
    const on = await opened();
    enter(on, ZOE);
    await on.pull('clients');
    const id = await insertRow(on, { payload: JSON.stringify(ZOE) });
    await on.work();
    const retried = (allowDouble?: boolean) =>
      retryEntry(on.session, on.parts.kinds, { id, allowDouble }, on.clock.now());
    await expect(retried()).rejects.toMatchObject({
      code: 'outbox.double',
      message: expect.stringContaining(`Entry ${id} would make a second record of clients.`) as string,
      hint: expect.stringContaining(`bms-sync outbox retry ${id} --allow-double`) as string,
    });
    await on.work();
    expect([(await on.entry(id)).state, zoes(on)]).toEqual(['parked', 1]);
    await retried(true);
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent' });
    expect(zoes(on)).toBe(2);
  });

  test.each([
    [
      'has another key',
      (on: Stage, id: string) => on.service.world.update('clients', Number(id), { code: 'Q' }),
    ],
    ['is deleted', (on: Stage, id: string) => on.service.world.remove('clients', Number(id))],
  ])('is sent by a plain retry once the record with its key %s', async (_what, change) => {
    const on = await opened();
    const there = enter(on, ZOE);
    await on.pull('clients');
    const id = await insertRow(on, { payload: JSON.stringify({ ...ZOE, email: 'z@example.com' }) });
    await on.work();
    const next = async () => explain((await readHistory(on.parts, id)).entry).next.join('\n');
    expect(await next()).toMatch(/adopt 1 \d+\n.*--allow-double/);
    change(on, there);
    for (let day = 0; day < 3; day++) {
      await on.clock.sleep(86_400_000);
      await on.pull('clients');
    }
    const { entry, candidates } = await readHistory(on.parts, id);
    expect([explain(entry).meaning, candidates]).toEqual([
      'What it was parked or refused for is no longer so, as the mirror shows.',
      [],
    ]);
    expect(await next()).toMatch(/^To send it again: .* retry 1\n.*abandon 1$/);
    await retryEntry(on.session, on.parts.kinds, { id }, on.clock.now());
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent', allowsDouble: false });
    expect(zoes(on)).toBe(1);
  });

  test('waits for a person no more, by its words, once the service has sent the field that it names', async () => {
    const on = await opened();
    const id = await insertRow(on, { payload: '{"code":"ZZ-1","vip":1}' });
    await on.work();
    const next = async () => explain((await readHistory(on.parts, id)).entry).next.join('\n');
    expect(await next()).not.toContain('retry');
    const seen = new Map([['vip', { type: 'integer', fitsHint: true, wire: 'number' } as const]]);
    await on.session.atomically((tx) => saveFields(tx, clients, seen, on.clock.now()));
    expect(await next()).toContain('bms-sync outbox retry 1');
    await retryEntry(on.session, on.parts.kinds, { id }, on.clock.now());
    await on.work();
    expect((await on.entry(id)).state).toBe('done');
  });

  test('names every field that the service has ever sent', async () => {
    const on = await opened();
    const id = await on.firstId('clients');
    await on.session.atomically((tx) =>
      saveFields(
        tx,
        clients,
        new Map([['vip', { type: 'integer', fitsHint: true, wire: 'number' }]]),
        on.clock.now(),
      ),
    );
    const entry = await insertRow(on, { operation: 'update', id, payload: '{"vip":1}' });
    await on.work();
    expect((await on.entry(entry)).verdict).not.toBe('invalid');
  });
});

test('a row that an application inserts under the key of an entry that ended long ago is never sent', async () => {
  const on = await opened();
  const first = await on.send(create(ZOE));
  const key = (await on.entry(first)).key;
  await on.pass(2 * 86_400);
  await applyRetention(on.session, { ...KEEP_ALL, outboxDays: 1 }, on.clock.now());
  const second = await insertRow(on, { key, payload: JSON.stringify(ZOE) });
  const sent = asked(on, 'POST').length;
  await on.work();
  expect(await on.entry(second)).toMatchObject({ state: 'rejected', verdict: 'key_taken' });
  expect(JSON.parse((await on.entry(second)).result ?? '')).toMatchObject({ entry: first, state: 'done' });
  expect(asked(on, 'POST')).toHaveLength(sent);
  await expect(readHistory(on.parts, first)).rejects.toMatchObject({
    code: 'outbox.ended',
  });
});

test('a frozen outbox sends nothing, looks for nothing, and is not due', async () => {
  const on = await opened();
  const id = await on.store(create());
  await on.session.atomically((tx) => freeze(tx, 'restored', on.clock.now()));
  expect(await on.outbox.due(10)).toEqual([]);
  await on.outbox.work({ id, epoch: 0 });
  expect(await on.entry(id)).toMatchObject({ state: 'ready', owner: null, epoch: 0 });
  expect(asked(on, 'POST')).toEqual([]);
});

test('a notification with an older epoch works nothing', async () => {
  const on = await opened();
  const id = await on.store(create());
  expect(await on.outbox.raise({ id, epoch: 0 })).toEqual({ id, epoch: 1 });
  expect(await on.outbox.raise({ id, epoch: 0 })).toBeNull();
  await on.outbox.work({ id, epoch: 0 });
  expect(asked(on, 'POST')).toEqual([]);
  await on.outbox.work({ id, epoch: 1 });
  await on.outbox.work({ id, epoch: 1 });
  expect(asked(on, 'POST')).toHaveLength(1);
});

describe('creates with one natural key', () => {
  test('D11: the second one waits until the first is settled', async () => {
    const on = await opened();
    spoil(on, 'POST', { drop: 'after' }, { times: 1 });
    const first = await on.store(create());
    const second = await on.send(create({ ...ZOE, code: ' zz-1'.trim().toUpperCase(), name: 'Other' }));
    expect(await on.entry(first)).toMatchObject({ state: 'unsettled' });
    expect(await on.entry(second)).toMatchObject({ state: 'ready', verdict: 'waits', attempts: 0 });
    expect(JSON.parse((await on.entry(second)).result ?? '')).toEqual({ waitsFor: first });
    await on.pass(300);
    const { recordId, ...adopted } = await on.entry(first);
    expect(adopted).toMatchObject({ state: 'done', verdict: 'adopted' });
    expect(await on.entry(second)).toMatchObject({ state: 'parked', verdict: 'existed', attempts: 0 });
    expect(JSON.parse((await on.entry(second)).result ?? '')).toEqual({ ids: [recordId] });
  });
});

describe('updates of one record', () => {
  test('E07: go in their order, and wait for one that is parked', async () => {
    const on = await opened();
    const client = await on.firstId('clients');
    spoil(on, 'PUT', { ignoreFields: ['name'] });
    const first = await on.store(update(client, { name: 'First' }));
    const second = await on.send(update(client, { name: 'Second' }));
    for (const seconds of [60, 60]) await on.pass(seconds);
    expect(await on.entry(first)).toMatchObject({ state: 'parked', verdict: 'not_applied' });
    expect(await on.entry(second)).toMatchObject({ state: 'ready', verdict: 'waits', attempts: 0 });
  });
});

test.each(['POST', 'GET'] as const)(
  'a token refused to %s blocks no kind: one entry a minute tries, and all go once it is accepted',
  async (method) => {
    const on = await opened();
    const id = await on.firstId('clients');
    const ids = [
      await on.store(method === 'POST' ? create() : update(id, { fax: '1' })),
      await on.store(
        method === 'POST'
          ? create({ code: 'ZZ-2', name: 'B' })
          : update(on.service.world.ids('clients').at(-1)?.toString() ?? '', { fax: '2' }),
      ),
    ];
    spoil(on, method, { status: 401 });
    await on.work();
    for (const each of ids)
      expect(await on.entry(each)).toMatchObject({ state: 'ready', verdict: 'token_refused' });
    expect((await readNeeds(on.session, [])).map((need) => need.type)).toEqual(['token.refused']);
    const before = asked(on, method).length;
    await on.pass(60);
    expect(asked(on, method)).toHaveLength(before + 1);
    on.service.setFaults([]);
    await on.pass(60);
    for (const each of ids) expect(await on.entry(each)).toMatchObject({ state: 'done' });
    expect(await readNeeds(on.session, [])).toEqual([]);
  },
);

describe('a kind that our token may not write', () => {
  test('is blocked; one entry tries for all, and all go once it may', async () => {
    const on = await opened();
    spoil(on, 'POST', { refuse: true });
    const ids = [await on.store(create()), await on.store(create({ code: 'ZZ-2', name: 'B' }))];
    await on.work();
    for (const id of ids)
      expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'kind_blocked' });
    expect(asked(on, 'POST')).toHaveLength(1);
    await on.pass(300);
    expect(asked(on, 'POST')).toHaveLength(2);
    on.service.setFaults([]);
    await on.pass(300);
    for (const id of ids) expect(await on.entry(id)).toMatchObject({ state: 'done' });
    expect(await on.rows(sql`select kind from write_blocks`)).toEqual([]);
  });

  test('is written again in the end, though its list needs a sweep before every try', async () => {
    const on = await opened();
    spoil(on, 'POST', { refuse: true });
    const id = await on.send(create());
    on.service.setFaults([]);
    await on.clock.sleep(7_200_000);
    for (let minute = 0; minute < 10; minute++) await on.pass(60);
    expect(await on.entry(id)).toMatchObject({ state: 'done' });
  });

  test.each([
    ['a create that is found', async (on: Stage) => on.store(create({ code: 'ZZ-9', name: 'Nine' }))],
    [
      'an update that has nothing to change',
      async (on: Stage) => {
        const id = await on.firstId('clients');
        return on.store(update(id, { code: textOf(on, id, 'code') }));
      },
    ],
  ])('lets no try be spent on %s', async (_what, settled) => {
    const on = await opened();
    spoil(on, 'POST', { refuse: true });
    enter(on, { code: 'ZZ-9', name: 'Nine' });
    await on.pull('clients');
    const blocked = await on.send(create());
    const idle = await settled(on);
    on.service.setFaults([]);
    await on.clock.sleep(300_000);
    await on.outbox.work({ id: idle, epoch: (await on.entry(idle)).epoch }); // It comes first, and sends nothing.
    await on.outbox.work({ id: blocked, epoch: (await on.entry(blocked)).epoch });
    expect(await on.entry(idle)).toMatchObject({ attempts: 0 });
    expect(await on.entry(blocked)).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test.each([
    ['serve starts', (on: Stage) => on.session.atomically(probeBlocks)],
    ['a person resumes sends', (on: Stage) => resumeSends(on.session, on.parts.sendCounter)],
  ])('is tried again at once when %s', async (_what, begin) => {
    const on = await opened();
    spoil(on, 'POST', { refuse: true });
    const id = await on.send(create());
    on.service.setFaults([]);
    await on.work();
    expect(await on.entry(id)).toMatchObject({ verdict: 'kind_blocked' });
    await begin(on);
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done' });
  });

  test('and whose list no longer certifies is written again in the end', async () => {
    const on = await opened();
    const never = sql`update kind_state set certified_at = '2020-01-01 00:00:00.000' where kind = 'clients'`;
    spoil(on, 'POST', { refuse: true });
    const id = await on.send(create());
    expect(await on.entry(id)).toMatchObject({ verdict: 'kind_blocked' });
    on.service.setFaults([]);
    await on.session.atomically((tx) => tx.query(never));
    for (let minute = 0; minute < 12; minute++) await on.pass(60);
    expect(await on.entry(id)).toMatchObject({ state: 'done' });
  });
});

describe('what the mirror knows before a create', () => {
  test('is asked for by one sweep for all that wait, where it is old', async () => {
    const on = await opened();
    await on.clock.sleep(901_000);
    const ids: number[] = [];
    for (const code of ['A', 'B', 'C']) ids.push(await on.store(create({ code: `ZZ-${code}`, name: code })));
    for (const due of await on.outbox.due(10)) await on.outbox.work(due);
    for (const id of ids)
      expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'awaits_sweep' });
    expect(asked(on, 'POST')).toEqual([]);
    expect(await on.rows(sql`select kinds from runs where state = 'requested'`)).toEqual([
      { kinds: '["clients"]' },
    ]);
    await on.work();
    for (const id of ids) expect(await on.entry(id)).toMatchObject({ state: 'done' });
    expect(await on.rows(sql`select id from runs where command = 'pull'`)).toHaveLength(2);
  });

  test('is shown with the cause of today: a refused token, whose acceptance for another kind lets it go', async () => {
    const on = await opened({ pulled: [] });
    on.service.setFaults([{ on: { kind: 'clients', method: 'GET' }, do: { html: true } }]);
    const id = await on.send(create());
    for (let minute = 0; minute < 5; minute++) await on.pass(60);
    on.service.setFaults([{ do: { status: 401 } }]);
    await on.pull('clients', 'departments');
    const { entry } = await readHistory(on.parts, id);
    expect(entry.verdict).toBe('token_refused');
    expect(explain(entry)).toMatchObject({
      meaning: expect.stringMatching(
        /^The service refuses the token .*: the service refused the token\. Nothing is sent: no bms-sync serve is running/,
      ) as string,
      next: [expect.stringMatching(/^Replace the token: bms-sync doctor/)],
    });
    on.service.setFaults([]);
    await on.pull('departments');
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done' });
  });

  test('is not known while its list cannot be read: it waits, and asks again after twice as long', async () => {
    const on = await opened({ pulled: [] });
    on.service.setFaults([{ on: { kind: 'clients', method: 'GET' }, do: { html: true } }]);
    const id = await on.send(create());
    const since = formatInstant(new Date(NOON));
    await on.pass(60);
    const waiting = await on.entry(id);
    expect(waiting).toMatchObject({ state: 'ready', verdict: 'awaits_sweep', attempts: 0 });
    expect(waiting).toMatchObject({
      result: null,
      settlement: { awaits: { since, why: 'the answer was a web page', run: 1 } },
    });
    expect(explain(waiting).meaning).toContain(
      `Waiting for a reading of clients since ${since.slice(0, 19)} UTC: the answer was a web page.`,
    );
    for (let minute = 1; minute < 60; minute++) await on.pass(60);
    expect(await on.rows(sql`select id from runs where command = 'pull'`)).toHaveLength(6);
    on.service.setFaults([]);
    await on.pull('clients');
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done' });
  });
});

const MINUTE_MS = 60_000;

/** Whether a sweep of ten minutes counts an hour after noon, where runs from 7 on began since the last break. */
function counts({ runId = 7, ended = 60 }: { runId?: number; ended?: number }): boolean {
  const startedAt = instantAt(ended - 10);
  const ofSweep = {
    state: 'certified',
    reason: null,
    certifiedAt: null,
    rows: 1,
    durationMs: 10 * MINUTE_MS,
  };
  const lastBreak = { firstRun: 7, lastEntry: 0, mark: '', aheadMs: 0 };
  return isCurrent({ ...ofSweep, runId, startedAt }, lastBreak, new Date(NOON + 60 * MINUTE_MS));
}

describe('a sweep shows what there is before a create', () => {
  test.each([
    ['a quarter of an hour after its end', { ended: 45 }, true],
    ['no longer', { ended: 44 }, false],
    ['not if its clock was ahead', { ended: 76 }, false],
    ['not if it was requested before the last break', { runId: 6 }, false],
  ])('%s', (_what, sweep, expected) => {
    expect(counts(sweep)).toBe(expected);
  });

  test.each([
    ['certified', null, true, true],
    ['complete', null, false, true],
    ['complete', null, true, false],
    ['complete', 7, true, true],
    ['complete', 8, true, false],
    ['invalid', 7, false, false],
  ])('%s, where run %o was requested; the list certifies: %s', (state, asked, isCertifying, expected) => {
    expect(isEnough({ state, runId: 7 }, asked, isCertifying)).toBe(expected);
  });
});
