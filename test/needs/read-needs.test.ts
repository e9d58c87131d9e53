import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { addDigest } from '../../src/features/notify/digest.ts';
import { causeText } from '../../src/features/notify/notification-text.ts';
import { addEndpoint } from '../../src/events/webhooks/endpoints.ts';
import { saveCheck } from '../../src/store/integrity-check.ts';
import { readFailing } from '../../src/store/kinds/status-store.ts';
import { readNeeds } from '../../src/needs/read-needs.ts';
import { freeze } from '../../src/store/outbox/freeze-store.ts';
import { saveBlock } from '../../src/store/outbox/outbox-queue.ts';
import { saveAbsences } from '../../src/store/records/deletion-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import { serveMirror } from '../http/stage.ts';
import { clockAt, kindsNamed } from '../pull/steps.ts';
import { mirror, pullFrom, sandbox } from '../pull/support.ts';
import { passTime, readerOf } from '../pull/freshness/reading.ts';
import { TECHNICAL } from '../../src/lib/text/translator.ts';
import { needWords } from '../../src/words/needs.ts';
import { DATABASES } from '../store/databases.ts';
import { NOON, NOON_TEXT, later, putRecords } from '../store/temp-mirror.ts';

const STALE = [{ kind: 'punches', since: null }];
const PLAN = {
  type: 'plan.waiting',
  facts: {
    planId: 7,
    kind: 'clients',
    origin: 'clients.csv',
    createdBy: 'Ada',
    records: 1,
    since: NOON_TEXT,
  },
} as const;
const PRIVATE = 'Zoé of the private street';

/** One of everything that needs a person, and seven parked entries. */
async function needEverything(session: Session): Promise<void> {
  const absence = { sweep: 1, absentSince: NOON, firstGoneAt: null, isCertified: true, lastSeenAt: null };
  const put = (table: string, columns: readonly string[], ...rows: (string | number | null)[][]) =>
    session.atomically((tx) => tx.insertRows({ table, columns, rows }));
  await session.atomically(async (tx) => {
    await saveCheck(tx, ['row 5 is missing from the index'], NOON);
    await freeze(tx, 'the mirror has creates that are not in its outbox', NOON);
    await putRecords(tx, 'clients', [{ id: '9', _raw: JSON.stringify({ id: 9, nom: PRIVATE }) }]);
    await saveAbsences(tx, 'clients', [{ ...absence, id: '9', state: 'held' }]);
    await saveBlock(tx, { kind: 'products', reason: 'status 403', now: NOON, probeAt: NOON });
  });
  await put(
    'outbox',
    ['idempotency_key', 'kind', 'operation', 'payload', 'state', 'verdict', 'result'],
    ...Array.from({ length: 7 }, (_, at) => [
      `k${at}`,
      'clients',
      'create',
      JSON.stringify({ nom: PRIVATE }),
      'parked',
      'lost_twice',
      JSON.stringify({ note: PRIVATE }),
    ]),
  );
  await put(
    'kind_state',
    ['kind', 'tick', 'state', 'reason', 'complete_sweeps', 'epoch'],
    ['clients', 1, 'aborted', 'unauthorized', 0, 0],
    ['products', 1, 'invalid', 'html', 0, 0],
  );
  await put(
    'runs',
    ['id', 'command', 'kinds', 'state', 'requested_at'],
    [8, 'backfill', '[]', 'done', NOON_TEXT],
    [9, 'verify', '[]', 'done', NOON_TEXT],
    [10, 'backfill', '[]', 'done', NOON_TEXT],
  );
  const zeros = ['pages', 'created', 'updated', 'deleted', 'restored', 'quarantined', 'requests', 'retries'];
  const report = [
    'run_id',
    'kind',
    'state',
    'reason',
    'rows',
    'unchanged',
    'started_at',
    'duration_ms',
    ...zeros,
  ];
  const none = zeros.map(() => 0);
  await put(
    'run_kinds',
    report,
    [8, 'clients', 'complete', null, 9, 0, NOON_TEXT, 1, ...none],
    [9, 'clients', 'complete', 'rows_differ', 9, 6, NOON_TEXT, 1, ...none],
    [10, 'clients', 'complete', null, 2, 1, NOON_TEXT, 1, ...none],
    [9, 'products', 'complete', 'rows_differ', 9, 8, NOON_TEXT, 1, ...none],
    [10, 'products', 'complete', null, 1, 0, NOON_TEXT, 1, ...none],
  );
  await put(
    'issues',
    ['kind', 'record_id', 'code', 'detail', 'first_seen_at'],
    ['clients', '8', 'twins', '["9"]', NOON_TEXT],
  );
  await put(
    'mirror_meta',
    ['key', 'value'],
    ['volatile.clients', JSON.stringify({ sweeps: { photo: 2 }, ignored: [] })],
    ['source.refused', `${NOON.toISOString()} 1 1`],
  );
  await put(
    'webhook_endpoints',
    ['name', 'public_id', 'url', 'cursor', 'state', 'disabled_reason', 'failing_told_at'],
    ['erp', 'a', 'https://example.com/', 7, 'disabled', 'gone', null],
    ['shop', 'b', 'https://example.com/', 7, 'active', null, NOON_TEXT],
    ['off', 'c', 'https://example.com/', 7, 'disabled', 'by_a_person', null],
  );
}

test.each(DATABASES)(
  'what needs a person in %s is read most urgent first, a cause before its effects, without content of a record, and has the same titles on the page, in the status and, one line per cause, in the digest',
  async (_, open) => {
    const session = await open();
    await needEverything(session);
    const needs = await readNeeds(session, STALE);
    expect(needs.map(({ type }) => type)).toEqual([
      'mirror.damaged',
      'outbox.frozen',
      'token.refused',
      'kind.unread',
      'kind.stale',
      'kind.held',
      'kind.blocked',
      ...Array.from({ length: 5 }, () => 'entry.parked'),
      'entries.parked',
      'record.twins',
      'kind.differs',
      'field.volatile',
      'webhook.disabled',
      'webhook.failing',
    ]);
    expect(needs).toContainEqual({
      type: 'kind.differs',
      facts: { kind: 'clients', records: 3, since: NOON_TEXT }, // A backfill has read two since; of products, the one.
    });
    expect(JSON.stringify(needs)).not.toContain(PRIVATE);

    const stage = await serveMirror(session);
    const status = (await (await stage.get('/v1/status')).json()) as { needs: { title: string }[] };
    const titles = status.needs.map(({ title }) => title);
    expect(titles).toHaveLength(needs.length - 1); // Nothing is scheduled, so nothing is stale.
    const page = await (await stage.get('/')).text();
    const [, panel = ''] = /<ul class="needs">([^]*?)<\/ul>/.exec(page) ?? [];
    const shown = [...panel.matchAll(/<h3[^>]*>\s*(?:<a [^>]*>)?([^<]+)/g)].map(([, title = '']) =>
      title.trim(),
    );
    expect(shown).toEqual(titles);
    expect(titles).toContain('The records 8 and 9 of clients may be the same');
    const issues = await (await stage.get('/issues?kind=clients&code=twins')).text();
    for (const id of ['8', '9']) expect(issues).toContain(`href="/records/clients/${id}"`);

    const anna = { name: 'anna', url: 'mailto:anna@garage.example', format: 'email' } as const;
    const wish = { ...anna, kinds: null, changes: null, fields: null };
    await addEndpoint(session, wish, { allowHosts: [], now: NOON });
    for (const day of [0, 86_400_000])
      await addDigest(session, { at: '07:00', timezone: 'UTC' }, later(day), () =>
        Promise.resolve({ stale: STALE, more: [PLAN] }),
      );
    const [digest] = await session.query(sql`select body from webhook_deliveries`);
    const body = String(digest?.['body']);
    expect(body).not.toContain(PRIVATE);
    const reader = { language: 'en', timezone: 'UTC', publicUrl: null } as const;
    const { lines } = causeText([{ type: 'digest.daily', body, names: [], changes: [] }], reader);
    const all = titles.toSpliced(4, 0, 'The list of time punches is stale');
    const first = all.findIndex((title) => title.includes('parked'));
    const apart = all
      .filter((title) => !title.includes('parked'))
      .toSpliced(first, 0, '7 entries are parked');
    expect(lines.filter((line) => line.startsWith('– '))).toEqual(
      [...apart, 'Plan 7 waits for approval'].map((title) => `– ${title}`),
    );
  },
);

test('an unread kind is so since the first pull that could not read it, not since the last that could', async () => {
  const service = await sandbox({ size: 5 });
  const session = await mirror();
  const clock = clockAt(0);
  const pull = () =>
    pullFrom(service, session, { parts: { clock }, request: { kinds: kindsNamed('departments') } });
  await pull();
  service.setFaults([{ do: { status: 403 } }]);
  for (let failure = 0; failure < 3; failure++) {
    await clock.sleep(60_000);
    await pull();
  }
  expect((await readNeeds(session, [])).map(({ type, facts }) => [type, facts])).toEqual([
    ['kind.unread', expect.objectContaining({ since: '2026-03-01 12:01:00.000' })],
  ]);
});

test('an outage is so since the first reading that it ended, of whatever kind; the fault of one list is dated by its own readings', async () => {
  const service = await sandbox({ size: 5 });
  const session = await mirror();
  const clock = clockAt(0);
  const pull = async (...kinds: string[]) => {
    await clock.sleep(60_000);
    await pullFrom(service, session, { parts: { clock }, request: { kinds: kindsNamed(...kinds) } });
  };
  await pull('departments', 'products', 'clients');
  service.setFaults([{ on: { kind: 'clients' }, do: { status: 403 } }]);
  await pull('clients');
  await pull('products');
  service.setFaults([{ on: { kind: 'clients' }, do: { status: 403 } }, { do: { status: 503 } }]);
  await pull('products');
  await pull('departments');
  await pull('clients');
  const needs = await readNeeds(session, []);
  expect(needs.map(({ facts }) => facts)).toEqual([
    expect.objectContaining({ reason: 'forbidden', since: '2026-03-01 12:02:00.000' }),
    expect.objectContaining({ reason: 'unavailable', since: '2026-03-01 12:04:00.000' }),
  ]);
  expect(await readFailing(session)).toEqual([
    { kind: 'clients', since: '2026-03-01 12:02:00.000', state: 'aborted', reason: 'forbidden' },
    { kind: 'departments', since: '2026-03-01 12:04:00.000', state: 'aborted', reason: 'unavailable' },
    { kind: 'products', since: '2026-03-01 12:04:00.000', state: 'aborted', reason: 'unavailable' },
  ]);
});

test('a token is refused until the service accepts it for any kind, in a pull or between sweeps; the others are unread until then', async () => {
  const service = await sandbox({ size: 5 });
  const session = await mirror();
  const clock = clockAt(0);
  const pull = async (...kinds: string[]) => {
    await clock.sleep(60_000);
    await pullFrom(service, session, { parts: { clock }, request: { kinds: kindsNamed(...kinds) } });
  };
  const needs = async () => (await readNeeds(session, [])).map(({ type, facts }) => [type, facts]);
  const refuse = () => {
    service.setFaults([{ do: { status: 401 } }]);
  };
  await pull('departments', 'products', 'clients');
  refuse();
  await pull('departments', 'products', 'clients');
  const kinds = expect.arrayContaining(['clients', 'departments', 'products']) as string[];
  expect(await needs()).toEqual([['token.refused', { kinds, since: '2026-03-01 12:02:00.000' }]]);
  service.setFaults([]);
  await pull('departments');
  const [unread] = (await readNeeds(session, [])).map((need) => needWords(need, TECHNICAL));
  expect(unread).toMatchObject({
    title: '2 lists were not read to their end: clients, products',
    why: ['The service refused the token.'],
    command: 'bms-sync pull clients products',
  });
  refuse();
  await pull('departments');
  service.setFaults([]);
  await passTime(clock, 60_000, [readerOf({ service, session, clock })]);
  expect((await needs()).map(([type]) => type)).toEqual(['kind.unread']);
});

test('a list that its run reads again needs nobody, unless what failed does not pass', async () => {
  const session = await mirror();
  await session.atomically(async (tx) => {
    await tx.query(sql`
      insert into runs (id, command, kinds, state, requested_at, epoch)
      values (1, 'pull', '["clients","products"]', 'running', ${NOON_TEXT}, 1)`);
    await tx.query(sql`
      insert into run_kinds values (1, 'clients', 'aborted', 'unavailable', null, null, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, ${NOON_TEXT}, 0)`);
    await tx.query(sql`
      insert into kind_state (kind, tick, state, reason, complete_sweeps, epoch) values
        ('clients', 1, 'aborted', 'unavailable', 1, 0), ('products', 1, 'aborted', 'forbidden', 1, 0)`);
  });
  const needs = async () => (await readNeeds(session, [])).map(({ facts }) => facts);
  expect(await needs()).toMatchObject([{ kinds: ['products'] }]);
  await session.atomically((tx) => tx.query(sql`update runs set state = 'incomplete'`));
  expect(await needs()).toMatchObject([{ kinds: ['clients'] }, { kinds: ['products'] }]);
});
