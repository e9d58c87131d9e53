import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { saveHandledUntil } from '../../src/store/runs/open-runs.ts';
import type { Session } from '../../src/db/session/session.ts';
import { run } from '../support/command-line.ts';
import { sized } from '../support/tiers.ts';
import { atRest, expectExact, tally } from './outbound-ledger.ts';
import { redisFor, scattered, setScene, type Scene } from './outbound-scene.ts';
import {
  expectFedWhole,
  expectMirrored,
  expectOnce,
  expectSlotsOnce,
  expectReported,
  leftOver,
  recordMarks,
  troubled,
} from './three-processes-checks.ts';
import { startCrew, type Crew } from './three-processes-crew.ts';
import { KINDS, keepLedger, readFeed, work } from './three-processes-load.ts';

const KILLS = sized({ quick: 2, acceptance: 4, deep: 6 });
const EVERY_MS = sized({ quick: 1_500, acceptance: 4_000, deep: 10_000 });
/** The lease of a list outlasts its owner by a minute where its death cannot be detected. */
const REST_MS = 90_000;
const MINUTE = 60_000;
const LOOKED_WITHIN_MS = 3_000;

/** Lost answers, but for the first: a create that is lost itself, and again where another fault meets its second send, waits for a person. */
const LOSSES = scattered({ method: 'POST' }, 12, [{ drop: 'after' }]).map((fault, at) =>
  at === 0 ? { ...fault, do: { drop: 'before' as const } } : fault,
);

/** Slow enough that a kill finds something under way; a create is lost, and some answers. */
const FAULTS = [{ do: { latencyMs: 15 } }, { on: { method: 'POST' }, do: { latencyMs: 100 } }, ...LOSSES];

const SETTINGS = {
  BMS__SOURCE__TIMEOUT_SECONDS: '5', // A slow machine is not a fault of the service.
  BMS__OUTBOUND__PATIENCE_SECONDS: '20', // Nor is it a minute without a certified list, as the lists change meanwhile.
  BMS__SCHEDULES: JSON.stringify(Object.fromEntries(KINDS.map((kind) => [kind, '* * * * *']))),
};

test(`three processes share a mirror and a queue, ${KILLS} are killed at work: all is pulled, all is sent, nothing twice`, async ({
  onTestFinished,
}) => {
  const scene = await setScene(onTestFinished, {
    size: 60,
    at: 'postgres',
    kinds: KINDS,
    env: SETTINGS,
    faults: FAULTS,
  });
  const { session, service } = scene;
  const known = new Map(KINDS.map((kind) => [kind, service.world.count(kind)]));
  const redis = await redisFor(onTestFinished);
  await missSlots(session);
  await recordMarks(session);
  const ledger = keepLedger(service.world);
  const crew = await startCrew(onTestFinished, session, { ...scene.env, QUEUE_URL: redis.url });
  const begun = Date.now();
  let isOver = false;

  const [load] = await Promise.all([
    work(scene, crew, { isOver: () => isOver }),
    killInTurn(crew, session).finally(() => (isOver = true)),
  ]);
  await atRest(scene, REST_MS);
  await pullAll(scene, crew);
  const due = minutesDue(begun, Date.now());
  await readFeed(crew, load);

  await expectExact(scene, load.wishes);
  const states = await tally(session);
  expect(Object.keys(states).filter((state) => !state.includes(' done '))).toEqual([]);
  expectOnce(ledger, load.wishes);
  await expectMirrored(scene);
  await expectReported(scene, { known, ledger });
  await expectFedWhole(session, load.read);
  await crew.stop();
  const slots = await expectSlotsOnce(session, due);
  const { wishes, read, outside, pulls } = load;
  console.log('FIGURE three processes', {
    kills: KILLS,
    pushes: wishes.length,
    outside,
    pulls,
    ...slots,
    events: read.length,
    ...(await troubled(session)),
    ...states,
  });
  expect(await run(['verify', ...KINDS], scene.env)).toMatchObject({ code: 0 });
});

/** The schedules have come due while nobody served: whichever process looks first has a slot to ask for. */
async function missSlots(session: Session): Promise<void> {
  await session.atomically(async (tx) => {
    for (const kind of KINDS) await saveHandledUntil(tx, kind, new Date(Date.now() - 2 * MINUTE));
  });
}

/** When each schedule came due: the last time before there was a process, which the first one makes up for, and since. */
function minutesDue(begun: number, end: number): Date[] {
  const first = Math.floor(begun / MINUTE);
  const last = Math.floor((end - LOOKED_WITHIN_MS) / MINUTE);
  return Array.from({ length: last - first + 1 }, (_, i) => new Date((first + i) * MINUTE));
}

/** Kills one after the other; each is replaced once the others have gone on without it. */
async function killInTurn(crew: Crew, session: Session): Promise<void> {
  const begun = performance.now();
  for (let kill = 0; kill < KILLS; kill++) {
    await pause(Math.max(0, begun + (kill + 1) * EVERY_MS - performance.now()));
    const replace = await crew.killOver(kill % 2 === 0 ? 'send' : 'pull', kill >> 1);
    const doneBefore = await doneIn(session);
    await expect.poll(() => doneIn(session), { timeout: REST_MS }).toBeGreaterThan(doneBefore);
    await replace();
  }
}

async function doneIn(session: Session): Promise<number> {
  const [row] = await session.query(sql`select count(*) as n from outbox where state = 'done'`);
  return Number(row?.['n']);
}

/** Reads the lists once more, now that nothing changes, and waits until nothing is under way. */
async function pullAll({ session }: Scene, crew: Crew): Promise<void> {
  const { runId } = await crew.ask({ path: '/v1/pulls', body: { kinds: KINDS } });
  await expect
    .poll(async () => (await crew.ask({ path: `/v1/runs/${String(runId)}` }))['state'], { timeout: REST_MS })
    .toBe('done');
  await expect.poll(() => leftOver(session), { timeout: REST_MS }).toEqual([]);
}
