import { sql } from 'drizzle-orm';
import { expect, onTestFinished, test } from 'vitest';
import { runsQueue } from '../../src/app/queues.ts';
import { verifySchedule } from '../../src/app/schedules.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { createScheduleCheck } from '../../src/jobs/request-runs.ts';
import { systemClock } from '../../src/lib/time/clock.ts';
import { KINDS } from '../../src/catalog/catalog.ts';
import { claimKind } from '../../src/mirror/kinds/kind-lease.ts';
import { migrate } from '../../src/mirror/shape/migrate.ts';
import { requestPull } from '../../src/mirror/runs/run-requests.ts';
import type { Session } from '../../src/mirror/session/session.ts';
import { openSqliteSession } from '../../src/mirror/sqlite/session.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { memoryLog } from '../jobs/support.ts';
import { flipBits } from '../mirror/damage.ts';
import { DATABASES, MIRRORS, kindsNamed, newRequests } from '../pull/steps.ts';
import { contentOf, openSandboxSource, pullFrom, rewriting, sandbox, truthOf } from '../pull/support.ts';
import { run, settingsFor } from '../support/command-line.ts';
import { KIND_NAMES } from '../support/mirror-file.ts';
import { freshMirror } from '../support/temp-folder.ts';

const [HOUR, DAY] = [3_600_000, 86_400_000];
const SATURDAY = '2026-02-28T12:00:00Z';
const SLOT = '2026-03-01T03:30:00.000Z';

/** What `serve` is made of as far as it verifies, to be moved by hand from a Saturday noon on. */
async function serviceOf(service: Sandbox, session: Session) {
  let now = Date.parse(SATURDAY);
  const clock = { ...systemClock, now: () => new Date(now), sleep: () => Promise.resolve() };
  const config = loadConfig({ env: settingsFor(service, 'unused') });
  const [log, source] = [memoryLog(), openSandboxSource(service, clock)];
  onTestFinished(() => source[Symbol.asyncDispose]());
  const owner = { name: 'one', isDead: () => false };
  const parts = { session, source, clock, logger: log.logger, owner };
  const queue = runsQueue(config, parts);
  const looks = verifySchedule(config).map((schedule) =>
    createScheduleCheck({ ...parts, isDead: owner.isDead }, schedule),
  );
  const look = async (): Promise<void> => {
    for (const one of looks) await one();
  };
  const work = async (): Promise<void> => {
    for (const ring of await queue.due(9)) await queue.work(ring, new AbortController().signal);
  };
  const pull = (names: readonly string[]): Promise<number> =>
    session.atomically((tx) => requestPull(tx, { kinds: names, request: 'test', now: clock.now() }));
  await look();
  return {
    ...{ log, queue, look, clock },
    pass: (ms: number): void => {
      now += ms;
    },
    /** Pulls all, until no page is parsed again: nothing but a verification sees what a disk has flipped. */
    pullAll: async (): Promise<void> => {
      for (let time = 0; time < 2; time++) {
        await pull(KIND_NAMES);
        await work();
      }
    },
    pull,
    work,
  };
}

const verifyRuns = (session: Session) =>
  session.query(sql`select state, reason, slot from runs where command = 'verify' order by id`);

const reportsOf = (session: Session) =>
  session.query(sql`
    select kind, state, reason, updated, detail from run_kinds
    where run_id = (select max(id) from runs where command = 'verify') order by kind`);

/** Another letter in a text that the service sent: what a flipped bit makes of it. */
async function flipRaw(session: Session, kind: string, field: string): Promise<void> {
  const [row] = await session.query(
    sql`select cast(min(id) as text) as id from ${sql.identifier(kind)} where _deleted_at is null`,
  );
  const [from, to] = [`"${field}":"`, `"${field}":"~`];
  await session.atomically((tx) =>
    tx.query(sql`
      update ${sql.identifier(kind)} set _raw = replace(_raw, ${from}, ${to})
      where cast(id as text) = ${String(row?.['id'])}`),
  );
}

test.each(DATABASES)('once a week it compares everything and mends what differs, in %s', async (database) => {
  const [service, session] = [await sandbox(), await MIRRORS[database]()];
  const serving = await serviceOf(service, session);
  await serving.pullAll();
  await flipRaw(session, 'clients', 'name');
  await flipRaw(session, 'products', 'name_fr');
  await flipRaw(session, 'departments', 'name');
  serving.pass(15 * HOUR);
  await serving.look();
  expect(await verifyRuns(session)).toEqual([]);
  serving.pass(HOUR);
  await serving.look();
  expect(await verifyRuns(session)).toMatchObject([{ state: 'requested', slot: `verify@${SLOT}` }]);

  await serving.work();

  expect(await contentOf(session)).toEqual(truthOf(service));
  expect(await verifyRuns(session)).toMatchObject([{ state: 'done', reason: null }]);
  const mended = { state: 'complete', reason: 'mended', updated: 1 };
  const detail = '1 differed from the service, 1 are mended';
  expect((await reportsOf(session)).filter(({ reason }) => reason !== null)).toMatchObject(
    ['clients', 'departments', 'products'].map((kind) => ({ kind, ...mended, detail })),
  );
  expect((await reportsOf(session)).length).toBe(KIND_NAMES.length);
  expect(serving.log.lines.filter(({ level }) => level === 40)).toMatchObject(
    ['clients', 'departments', 'products'].map(() => ({ differs: 1, mended: 1 })),
  );

  serving.pass(6 * DAY);
  await serving.look();
  expect(await verifyRuns(session)).toHaveLength(1);
  serving.pass(DAY);
  await serving.look();
  await serving.work();
  expect(await verifyRuns(session)).toMatchObject([{}, { state: 'done' }]);
  expect((await reportsOf(session)).every(({ reason }) => reason === null)).toBe(true);
});

test.each(DATABASES)(
  'it waits while a pull is asked for, a kind is read or an entry is sent, in %s',
  async (database) => {
    const [service, session] = [await sandbox({ size: 10 }), await MIRRORS[database]()];
    await pullFrom(service, session, { request: { kinds: kindsNamed('departments') } });
    const serving = await serviceOf(service, session);
    serving.pass(16 * HOUR);
    await serving.look();
    const isDue = async (): Promise<boolean> => (await serving.queue.due(9)).length === 1;

    const pulling = await serving.pull(['clients']);
    expect(await serving.queue.due(9)).toMatchObject([{ id: pulling }]);
    await session.atomically((tx) => tx.query(sql`update runs set state = 'running' where id = ${pulling}`));
    expect(await isDue()).toBe(false);
    await session.atomically((tx) => tx.query(sql`update runs set state = 'done' where id = ${pulling}`));
    expect(await isDue()).toBe(true);

    const now = serving.clock.now();
    await claimKind(session, { kind: 'clients', owner: 'a pull by hand', now, isDead: () => false });
    expect(await isDue()).toBe(false);
    await session.atomically((tx) => tx.query(sql`update kind_state set owner = null`));

    await session.atomically((tx) =>
      tx.query(sql`
        insert into outbox (idempotency_key, kind, operation, payload, state)
        values ('a', 'clients', 'create', '{}', 'sending')`),
    );
    expect(await isDue()).toBe(false);
    await session.atomically((tx) => tx.query(sql`update outbox set state = 'unsettled'`));
    expect(await isDue()).toBe(true);
  },
);

test('it makes way between two kinds for a pull that comes due, and goes on after it', async () => {
  const [plain, session] = [await sandbox({ size: 10 }), await MIRRORS.SQLite()];
  await pullFrom(plain, session);
  const pulls: Promise<number>[] = [];
  const service = await rewriting(plain, (body, path) => {
    if (path.includes('/clients') && pulls.length === 0) pulls.push(serving.pull(['departments']));
    return body;
  });
  await session.atomically((tx) =>
    tx.query(sql`update mirror_meta set value = ${service.url} where key = 'source.base_url'`),
  );
  const serving = await serviceOf(service, session);
  serving.pass(16 * HOUR);
  await serving.look();

  await serving.work();
  await Promise.all(pulls);
  expect(await verifyRuns(session)).toMatchObject([{ state: 'requested' }]);
  const compared = (await reportsOf(session)).map(({ kind }) => kind);
  expect(compared).toContain('clients');
  expect(compared.length).toBeLessThan(KIND_NAMES.length);

  await serving.work(); // The pull: the verification still waits.
  expect(await verifyRuns(session)).toMatchObject([{ state: 'requested' }]);
  const asked = newRequests(plain);
  await serving.work();
  expect(await verifyRuns(session)).toMatchObject([{ state: 'done' }]);
  expect(await reportsOf(session)).toHaveLength(KIND_NAMES.length);
  expect(asked().filter((path) => path.startsWith('/api/clients'))).toEqual([]);
});

test('after a day without an idle moment it gives up until the next week, and says so', async () => {
  const [service, session] = [await sandbox({ size: 10 }), await MIRRORS.SQLite()];
  await pullFrom(service, session);
  const serving = await serviceOf(service, session);
  serving.pass(16 * HOUR);
  await serving.look();
  await serving.pull(['clients']);
  serving.pass(23 * HOUR);
  await serving.queue.takeOver();
  expect(await verifyRuns(session)).toMatchObject([{ state: 'requested' }]);
  serving.pass(HOUR);
  await serving.queue.takeOver();
  expect(await verifyRuns(session)).toMatchObject([
    { state: 'interrupted', reason: 'no idle moment within a day' },
  ]);
  expect(serving.log.lines.at(-1)).toMatchObject({ level: 40 });
});

test('kinds that were never read are left to pulls', async () => {
  const [service, session] = [await sandbox({ size: 10 }), await MIRRORS.SQLite()];
  await pullFrom(service, session, { request: { kinds: kindsNamed('departments') } });
  const serving = await serviceOf(service, session);
  serving.pass(16 * HOUR);
  await serving.look();
  await serving.work();
  expect((await reportsOf(session)).map(({ kind }) => kind)).toEqual(['departments']);
});

test('three bits that a disk has flipped are found and mended', async () => {
  const [service, path] = [await sandbox(), freshMirror()];
  const names = ['Zwiebelkuchen', 'Quittengelee', 'Maultaschen'];
  for (const [index, name] of names.entries())
    service.world.update('clients', service.world.ids('clients')[index] ?? 0, { name });
  {
    await using session = openSqliteSession(path);
    await migrate(session, KINDS);
    await (await serviceOf(service, session)).pullAll();
  }
  for (const name of names) expect(flipBits(path, name)).toBeGreaterThan(0);
  const session = openSqliteSession(path);
  onTestFinished(() => session.close());
  const serving = await serviceOf(service, session);
  await serving.pullAll();
  expect(await contentOf(session)).not.toEqual(truthOf(service));
  serving.pass(16 * HOUR);
  await serving.look();
  await serving.work();
  expect(await contentOf(session)).toEqual(truthOf(service));
  expect(await reportsOf(session)).toContainEqual(
    expect.objectContaining({ kind: 'clients', reason: 'mended', updated: 3 }),
  );
});

test('what cannot be mended is told as an error, and the run is incomplete', async () => {
  const [plain, session] = [await sandbox(), await MIRRORS.SQLite()];
  const [id = 0] = plain.world.ids('clients');
  // Asked for alone, the record is another than in the list: reading it anew cannot make the mirror agree with the list.
  const service = await rewriting(plain, (body, path) =>
    path === `/api/clients/${id}` ? body.replace(/"city":"[^"]*"/, '"city":"Elsewhere"') : body,
  );
  await pullFrom(service, session);
  await session.atomically((tx) => tx.query(sql`update clients set city = 'Nowhere' where id = ${id}`));
  const serving = await serviceOf(service, session);
  serving.pass(16 * HOUR);
  await serving.look();
  await serving.work();
  expect(await verifyRuns(session)).toMatchObject([{ state: 'incomplete' }]);
  expect(await reportsOf(session)).toContainEqual(
    expect.objectContaining({ kind: 'clients', reason: 'differs' }),
  );
  expect(serving.log.lines).toContainEqual(expect.objectContaining({ level: 50, kind: 'clients' }));
});

test('it can be turned off and set to another time', async () => {
  const schedules = (env: Record<string, string>) => verifySchedule(loadConfig({ env }));
  expect(schedules({})).toMatchObject([{ name: 'verify', timezone: 'UTC', verifies: true }]);
  expect(schedules({ BMS__SCHEDULES__VERIFY: 'null' })).toEqual([]);
  const [monthly] = schedules({ BMS__SCHEDULES__VERIFY: '0 4 1 * *' });
  expect(monthly?.cron).toBe('0 4 1 * *');
  const refused = await run(['status'], { BMS__SCHEDULES__VERIFY: 'weekly' });
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toMatch(/schedules\.verify.*five fields/);
});
