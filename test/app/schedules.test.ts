import { sql } from 'drizzle-orm';
import { expect, onTestFinished, test } from 'vitest';
import { runsQueue } from '../../src/app/queues.ts';
import { schedulesOf } from '../../src/app/schedules.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { createScheduleCheck } from '../../src/runs/request-runs.ts';
import { systemClock, type Clock } from '../../src/lib/time/clock.ts';
import { openPostgresSession } from '../../src/db/postgres/session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { openSqliteSession } from '../../src/db/sqlite/session.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { memoryLog } from '../runs/engine/support.ts';
import { mirror, openSandboxSource, rewriting, sandbox } from '../pull/support.ts';
import { run, settingsFor } from '../support/command-line.ts';
import { ask } from '../support/mirror-file.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { grownMirror } from '../support/sqlite-templates.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

function wallClock() {
  let now = Date.parse('2026-03-01T12:30:00Z');
  const clock: Clock = {
    ...systemClock,
    now: () => new Date(now),
    sleep: () => Promise.resolve(),
  };
  return {
    clock,
    pass: (ms: number): void => {
      now += ms;
    },
  };
}

interface Made {
  readonly service: Sandbox;
  readonly session: Session;
  readonly clock: Clock;
  readonly schedules: Readonly<Record<string, unknown>>;
  readonly name?: string;
}

/** What a process that pulls is made of, to be moved by hand: looks at its schedules, works what is due. */
function processOf({ service, session, clock, schedules, name = 'one' }: Made) {
  const env = { ...settingsFor(service, 'unused'), BMS__SCHEDULES: JSON.stringify(schedules) };
  const config = loadConfig({ env });
  const log = memoryLog();
  const source = openSandboxSource(service, clock);
  onTestFinished(() => source[Symbol.asyncDispose]());
  const owner = name;
  const parts = { session, source, clock, logger: log.logger, owner };
  const queue = runsQueue(config, parts);
  const looks = schedulesOf(config).map((schedule) => createScheduleCheck(parts, schedule));
  return {
    log,
    look: async (): Promise<void> => {
      for (const look of looks) await look();
    },
    work: async (signal = new AbortController().signal): Promise<void> => {
      for (const ref of await queue.due(9)) await queue.work(ref, signal);
    },
  };
}

const runsOf = (session: Session) =>
  session.query(sql`select command, kinds, request, state, slot from runs order by id`);

test('two processes, one run, worked once', async () => {
  const service = await sandbox();
  const wall = wallClock();
  const url = await freshDatabaseUrl('template_grown');
  const sessions = await Promise.all([1, 2].map(() => openPostgresSession(url)));
  onTestFinished(async () => {
    for (const session of sessions) await session.close();
  });
  const [session] = sessions;
  if (session === undefined) throw new Error('no session');
  const schedules = { departments: '* * * * *' };
  const processes = sessions.map((own, index) =>
    processOf({ service, session: own, clock: wall.clock, schedules, name: `process ${index}` }),
  );
  for (const { look } of processes) await look();
  for (let minute = 1; minute <= 5; minute++) {
    wall.pass(MINUTE);
    await Promise.all(processes.map(({ look }) => look()));
    await Promise.all(processes.map(({ work }) => work()));
    const runs = await runsOf(session);
    expect(runs).toHaveLength(minute);
    expect(new Set(runs.map(({ state }) => state))).toEqual(new Set(['done']));
  }
  const sweeps = await session.query(sql`select sum(requests) as n from run_kinds`);
  expect(Number(sweeps[0]?.['n'])).toBe(service.requests.length);
});

test('H05 a run that is cut off because its process must end is for the next one', async () => {
  const plain = await sandbox({ size: 430 });
  const session = await mirror();
  const wall = wallClock();
  const stop = new AbortController();
  const service = await rewriting(plain, (body) => {
    stop.abort();
    return body;
  });
  const made = { service, session, clock: wall.clock, schedules: { products: '* * * * *' } };
  const first = processOf(made);
  await first.look();
  wall.pass(MINUTE);
  await first.look();
  await first.work(stop.signal);
  expect(await runsOf(session)).toMatchObject([{ state: 'requested' }]);
  await processOf({ ...made, name: 'two' }).work();
  expect(await runsOf(session)).toMatchObject([{ state: 'done' }]);
  expect(await session.query(sql`select state from run_kinds`)).toEqual([{ state: 'certified' }]);
});

test('a run of a kind that these settings do not know fails, and stands in no other way', async () => {
  const service = await sandbox();
  const session = await mirror();
  const wall = wallClock();
  const process = processOf({ service, session, clock: wall.clock, schedules: { departments: '* * * * *' } });
  await session.atomically((tx) =>
    tx.query(sql`
      insert into runs (command, kinds, state, requested_at, epoch)
      values ('pull', '["departments","gone"]', 'requested', '2026-03-01 12:00:00.000', 0)`),
  );
  await process.look();
  await process.work();
  wall.pass(MINUTE);
  await process.look();
  await process.work();
  expect((await runsOf(session)).map(({ state }) => state)).toEqual(['failed', 'done']);
});

test('serve asks for what came due while it was down, and works it', async () => {
  const service = await sandbox({ size: 5 });
  const path = await grownMirror();
  const env = { ...settingsFor(service, path), BMS__SCHEDULES: '{"departments":"* * * * *"}' };
  await run(['pull', 'clients', 'departments'], env);
  await run(['migrate'], env);
  {
    await using session = openSqliteSession(path);
    const day = new Date(Date.now() - DAY).toISOString().replace('T', ' ').replace('Z', '');
    await session.atomically((tx) =>
      tx.query(sql`insert into mirror_meta (key, value) values ('schedules.departments', ${day})`),
    );
  }
  const stop = new AbortController();
  const serving = run(['serve', '--only', 'pulls'], env, stop.signal);
  const done = () =>
    ask(path, `select id from runs where state = 'done' and slot like 'departments@%'`).length;
  while (done() === 0) await systemClock.sleep(50);
  stop.abort();
  expect(await serving).toMatchObject({ code: 0 });
  expect(done()).toBeLessThanOrEqual(2); // The second where a minute begins meanwhile.
});

test('serve sees a change between two sweeps, and says no more of it than that it serves', async () => {
  const service = await sandbox({ size: 5 });
  const path = await grownMirror();
  const settings = { ...settingsFor(service, path), BMS__SCHEDULES__ALL: 'null' };
  await run(['pull', 'departments', 'clients'], settings);
  const [id = 0] = service.world.ids('departments');
  service.world.update('departments', id, { name: 'Renamed' });
  const stop = new AbortController();
  const env = { ...settings, BMS__FRESHNESS__REQUESTS_PER_MINUTE: '600' };
  const serving = run(['serve', '--only', 'pulls'], env, stop.signal);
  const seen = () => ask(path, 'select record_id, change, run_id from changes');
  while (seen().length === 0) await systemClock.sleep(20);
  stop.abort();
  const { code, stderr } = await serving;

  expect(code).toBe(0);
  expect(seen()).toEqual([{ record_id: String(id), change: 'updated', run_id: null }]);
  expect(ask(path, 'select kind from kind_state where owner is not null')).toEqual([]);
  expect(stderr.trim().split('\n').length).toBeLessThan(6);
});

test.each([
  ['without a budget', ['serve', '--only', 'pulls'], 'null'],
  ['without the role of pulling', ['serve', '--only', 'webhooks'], '600'],
])('serve %s asks for nothing between sweeps', async (_name, argv, budget) => {
  const service = await sandbox({ size: 5 });
  const path = await grownMirror();
  const settings = { ...settingsFor(service, path), BMS__SCHEDULES__ALL: 'null' };
  await run(['pull', 'departments'], settings);
  const before = service.requests.length;
  const stop = new AbortController();
  const serving = run(argv, { ...settings, BMS__FRESHNESS__REQUESTS_PER_MINUTE: budget }, stop.signal);
  while (ask(path, 'select owner from workers').length === 0) await systemClock.sleep(20);
  stop.abort();
  expect(await serving).toMatchObject({ code: 0 });
  expect(service.requests).toHaveLength(before);
  expect(ask(path, 'select name from request_budgets')).toEqual([]);
});
