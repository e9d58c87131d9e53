import type { Entry } from '../../src/mirror/outbox/outbox-store.ts';
import { readAttempts } from '../../src/mirror/outbox/attempts-and-links.ts';
import { decideHold } from '../../src/mirror/records/deletion-store.ts';
import { unequal } from '../simulation/checkers/rows.ts';
import { dumpChanges, dumpMirror } from '../simulation/dump.ts';
import { decide, entriesOf } from './decisions.ts';
import { actAsPerson, askForSweep, pushCreate, pushUpdate } from './people.ts';
import type { EntryRecord, Recording } from './recording.ts';
import type { Schedule } from './schedule.ts';
import { setStage } from './stage.ts';
import type { RunOptions, Stage } from './stage.ts';
import { liveAsWorker } from './worker.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Plays a schedule against the real code: busy and faulty first, then healed, until nothing is open any more. */
export async function runSchedule(schedule: Schedule, options: RunOptions): Promise<Recording> {
  const stage = setStage(schedule, options);
  const failed = new Promise<never>((_resolve, reject) => {
    stage.fail = reject;
  });
  failed.catch(() => undefined); // Nobody may be waiting for it yet.
  const played = play(stage).finally(() => {
    stage.isOver = true;
    stage.wakeUp.wake();
  });
  const workers = Array.from({ length: schedule.workers }, (_none, number) => employ(stage, number + 1));
  await stage.timeline.drive(Promise.race([failed, Promise.all([played, ...workers])]));
  await stage.timeline.drive(Promise.race([failed, Promise.all(stage.remains)]));
  return record(stage);
}

/** One process after the other, each of them until it dies. */
export async function employ(stage: Stage, number: number): Promise<void> {
  for (let life = 1; !stage.isOver; life++) {
    const mortal = { owner: `worker-${number}.${life}`, life: { left: null, isOver: false } };
    await liveAsWorker(stage, mortal);
    stage.dead.add(mortal.owner);
    await stage.wakeUp.rest(stage.random.integer(100, 20_000));
  }
}

async function play(stage: Stage): Promise<void> {
  const { schedule, timeline, random, wakeUp } = stage;
  await baseline(stage);
  for (let wave = 0; wave < schedule.barredSpells; wave++) bar(stage);
  await Promise.all([
    ...times(schedule.creates, (number) => later(stage, () => pushCreate(stage, number))),
    ...times(schedule.updates, (number) => later(stage, () => pushUpdate(stage, schedule.creates + number))),
    ...times(schedule.sweeps, () => later(stage, () => askForSweep(stage))),
    ...times(schedule.peoplesActs, (number) =>
      later(stage, () => {
        actAsPerson(stage, number);
      }),
    ),
  ]);
  await timeline.clock.sleep(random.integer(0, 20 * MINUTE));
  stage.isCalm = true;
  stage.reads = { ...stage.reads, faults: { passing: 0, nonsense: 0 } };
  stage.say('— healed');
  wakeUp.wake();
  await untilSettled(stage);
  if (schedule.decides) {
    await timeline.clock.sleep(schedule.latestCommitMs);
    await decide(stage);
    await untilSettled(stage);
  }
  await comeToRest(stage);
}

export const times = <T>(count: number, act: (number: number) => T): T[] =>
  Array.from({ length: count }, (_none, number) => act(number));

export async function later(stage: Stage, act: () => Promise<void> | void): Promise<void> {
  const { random, schedule, timeline } = stage;
  const { rush, busyMs } = schedule;
  const atMs = random.chance(rush.share)
    ? rush.atMs + random.integer(0, rush.forMs)
    : random.integer(0, busyMs);
  await timeline.clock.sleep(atMs);
  stage.timeline.stir();
  await act();
}

/** A few good sweeps first: what comes then is news. */
export async function baseline(stage: Stage): Promise<void> {
  const { reads, kinds } = stage;
  stage.reads = { ...reads, faults: { passing: 0, nonsense: 0 } };
  const isKnown = (): boolean =>
    kinds.every(({ name }) => (stage.pulls.at(-1)?.after.kinds.get(name)?.baselineAt ?? null) !== null);
  for (let sweep = 0; sweep < 5 && !isKnown(); sweep++) {
    await askForSweep(stage);
    await stage.timeline.clock.sleep(5 * MINUTE);
  }
  stage.reads = reads;
}

export function bar({ schedule, timeline, random, services, barred, say }: Stage): void {
  const { name } = random.pick(services);
  const fromMs = random.integer(0, schedule.busyMs);
  timeline.after(fromMs, () => {
    barred.add(name);
    say(`— ${name} barred`);
  });
  timeline.after(fromMs + random.integer(1, 30) * MINUTE, () => void barred.delete(name));
}

/** Longer than three times `patienceSeconds`. */
const PATIENCE_MS = 90 * HOUR;

/** Lets time pass until every entry has come to an end, or would never. */
export async function untilSettled(stage: Stage): Promise<void> {
  const { timeline } = stage;
  const endMs = timeline.nowMs() + PATIENCE_MS;
  while (timeline.nowMs() < endMs && (await hasOpen(stage))) await timeline.clock.sleep(2 * HOUR);
}

async function hasOpen(stage: Stage): Promise<boolean> {
  const entries = await entriesOf(stage);
  stage.timeline.stir();
  return entries.some((entry) => !isAtRest(entry, entries));
}

/** An entry that waits for one that waits for a person is at rest. */
function isAtRest({ state, verdict, result }: Entry, entries: readonly Entry[]): boolean {
  if (state !== 'ready' || verdict !== 'waits') return !['ready', 'sending', 'unsettled'].includes(state);
  const { waitsFor } = JSON.parse(result ?? '{}') as { waitsFor?: number };
  const before = entries.find(({ id }) => id === waitsFor);
  return (
    before !== undefined &&
    (before.state === 'parked' || (before.state === 'ready' && isAtRest(before, entries)))
  );
}

const MOST_SWEEPS = 5;

/** Sweeps until the mirror is as the service is; whatever was still on its way has arrived by then. */
export async function comeToRest(stage: Stage): Promise<void> {
  const { timeline, schedule, sends, services, session, kinds } = stage;
  const last = Math.max(0, ...sends.map(({ atMs }) => atMs));
  const arrivedMs = last + schedule.latestCommitMs + 2 * MINUTE;
  if (timeline.nowMs() < arrivedMs) await timeline.clock.sleep(arrivedMs - timeline.nowMs());
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    await askForSweep(stage);
    await timeline.clock.sleep(16 * MINUTE);
    const { kinds: dumps } = await session.atomically((tx) => dumpMirror(tx, kinds));
    const isEqual = services.every(({ world: { kind, ledger } }) => {
      const dump = dumps.get(kind.name);
      return dump !== undefined && unequal(ledger, dump).length === 0;
    });
    if (isEqual) return;
    for (const { name } of kinds) await session.atomically((tx) => decideHold(tx, name, 'approved'));
  }
}

export async function record(stage: Stage): Promise<Recording> {
  const { session, schedule, services, sends, pulls, intents, kinds, crashes } = stage;
  const all = await entriesOf(stage);
  const entries: EntryRecord[] = [];
  for (const entry of all) {
    const intent = intents.get(entry.id);
    if (intent) entries.push({ entry, intent, attempts: await readAttempts(session, entry.id) });
  }
  const final = await dumpMirror(session, kinds);
  const [nowMs, runId] = [stage.timeline.nowMs(), -1];
  const last = { fromMs: nowMs, toMs: nowMs, runId, states: new Map(), isDead: false, after: final };
  return {
    ...{ schedule, services, sends, entries, pulls: [...pulls, last], changes: await dumpChanges(session) },
    ...{ final, reached: crashes.reached, originMs: stage.timeline.clock.now().getTime() - nowMs },
    restMs: nowMs,
  };
}
