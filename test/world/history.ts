import { sql } from 'drizzle-orm';
import { readAttempts, type Attempt } from '../../src/store/outbox/attempts-and-links.ts';
import { readMeta } from '../../src/store/kinds/meta.ts';
import { readVolatile } from '../../src/store/runs/volatile-fields.ts';
import { readEntries, type Entry } from '../../src/store/outbox/outbox-store.ts';
import { dumpChanges, dumpMirror, type ChangeRow, type Dump } from './dump.ts';
import { askForSweep, pushCreate, pushUpdate } from './applications.ts';
import { actsDuring, beginTrouble, outlast } from './lasting-acts.ts';
import { createDaily, latestMs } from './lateness.ts';
import { goBack, resumeIfPaused } from './going-back.ts';
import { act, leaveAndReturn } from './others.ts';
import { decideHolds } from './decide-holds.ts';
import { employ, verify } from './process.ts';
import { mayKeep, tablesWith } from './secrets.ts';
import { plainText } from './spelled.ts';
import { setStage, type HistoryOptions, type Intent, type Pull, type Stage } from './stage.ts';
import type { Service } from './service.ts';
import type { Personality } from './traits.ts';
import { undoAll, type UndoneCell } from './undone.ts';

/** All that is left of a history: the truth, and what the mirror and the outbox made of it. */
export interface Recording extends Pick<
  Stage,
  'kinds' | 'readBefore' | 'secrets' | 'verified' | 'witness' | 'goneBack' | 'forgotten' | 'reader'
> {
  readonly seed: number;
  readonly personality: Personality;
  readonly service: Service;
  readonly entries: readonly EntryRecord[];
  readonly pulls: readonly Pull[];
  readonly changes: readonly ChangeRow[];
  readonly final: Dump;
  readonly endMs: number;
  /** The log that the mirror's events are numbered in. */
  readonly log: string | null;
  /** Where a secret was found. */
  readonly leaks: readonly string[];
  /** What undoing every plan would take back. */
  readonly undone: readonly UndoneCell[];
  /** Fields that are said to change with every sweep, as `kind.field`. */
  readonly volatile: readonly string[];
}

export interface EntryRecord {
  readonly entry: Entry;
  readonly intent: Intent;
  readonly attempts: readonly Attempt[];
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Plays a history against the real code: busy and troubled first, then calm, until nothing is open any more. */
export async function playHistory(seed: number, options: HistoryOptions): Promise<Recording> {
  const stage = setStage(seed, options);
  const failed = new Promise<never>((_resolve, reject) => {
    stage.fail = reject;
  });
  failed.catch(() => undefined); // It may not be awaited yet.
  const played = play(stage).finally(() => {
    stage.isOver = true;
    stage.wakeUp.wake();
  });
  const count = stage.personality.processes === 'two' ? 2 : 1;
  const processes = Array.from({ length: count }, (_none, number) => employ(stage, number + 1));
  await stage.timeline.drive(Promise.race([failed, Promise.all([played, ...processes])]));
  await stage.timeline.drive(Promise.race([failed, Promise.all(stage.remains)]));
  return record(stage);
}

async function play(stage: Stage): Promise<void> {
  const { timeline, random } = stage;
  for (let sweep = 0; sweep < 2; sweep++) {
    await askForSweep(stage);
    await timeline.clock.sleep(5 * MINUTE);
  }
  const untilMs = stage.lasting.length === 0 ? null : await beginTrouble(stage);
  stage.hasBegun = untilMs !== null;
  await createDaily(stage);
  const busyMs = random.integer(20, 80) * MINUTE;
  const later = async (act: () => Promise<void> | void): Promise<void> => {
    await timeline.clock.sleep(random.integer(0, busyMs));
    timeline.stir();
    await act();
  };
  const times = (count: number, doIt: (number: number) => Promise<void> | void): Promise<void>[] =>
    Array.from({ length: count }, (_none, number) => later(() => doIt(number)));
  if (stage.isLying)
    for (let sweep = 0; sweep < SWEEPS_OF_LIES; sweep++) {
      await askForSweep(stage);
      await timeline.clock.sleep(random.integer(1, 40) * MINUTE);
    }
  const jumps = stage.personality.clock === 'jumps' ? random.integer(1, 3) : 0;
  await Promise.all([
    ...times(random.integer(1, 3), (number) => pushCreate(stage, 10 + number)),
    ...times(random.integer(0, 2), (number) => pushUpdate(stage, 40 + 10 * number)),
    ...times(random.integer(1, 4), () => askForSweep(stage)),
    ...times(stage.personality.churn === 'none' ? 0 : random.integer(0, 4), () => {
      act(stage);
    }),
    ...times(stage.personality.returning === 'restored' ? 1 : 0, () =>
      leaveAndReturn(stage, () => askForSweep(stage)),
    ),
    ...times(stage.personality.goesBack === 'never' ? 0 : 1, () => goBack(stage)),
    ...times(jumps, () => {
      jump(stage);
    }),
    ...actsDuring(stage).map((doIt) => later(doIt)),
  ]);
  stage.isCalm = true;
  stage.service.calm();
  stage.logLine('— calm');
  stage.wakeUp.wake();
  if (untilMs !== null) await outlast(stage, untilMs);
  await untilSettled(stage);
  await comeToRest(stage);
  if (stage.seed % VERIFIED_EVERY === 0) await verify(stage);
}

const SWEEPS_OF_LIES = 8;

/** To verify reads every list twice: not all histories end with it. */
const VERIFIED_EVERY = 10;

function jump({ timeline, random, logLine, wakeUp }: Stage): void {
  const ms = random.pick([-DAY, -HOUR, -10 * MINUTE, 10 * MINUTE, HOUR, DAY, 4 * DAY]);
  logLine(`— the clock jumps by ${ms}`);
  timeline.stepClock(ms);
  wakeUp.wake();
}

const LONGEST_MS = 5 * DAY;

/** Lets time pass until every entry has come to an end, or would never. */
async function untilSettled(stage: Stage): Promise<void> {
  const { timeline, session } = stage;
  const endMs = timeline.nowMs() + LONGEST_MS;
  for (let stepMs = 5 * MINUTE; timeline.nowMs() < endMs; stepMs = Math.min(2 * stepMs, 8 * HOUR)) {
    const entries = await readEntries(session, sql`select * from outbox order by id`);
    timeline.stir();
    if (stage.goneBack !== null) await resumeIfPaused(stage);
    if (entries.every((entry) => isAtRest(entry, entries) || awaitsUnreadable(stage, entry))) return;
    await timeline.clock.sleep(stepMs);
  }
}

const IN_VAIN = 5;

/** Nothing is sent while the list cannot be read, and the entry shows it: waiting on would show nothing more. */
function awaitsUnreadable({ pulls }: Stage, { state, verdict, kind }: Entry): boolean {
  const states = pulls.slice(-IN_VAIN).map((pull) => pull.states.get(kind));
  return (
    state === 'ready' &&
    verdict === 'awaits_sweep' &&
    !states.some((one) => one === 'certified' || one === undefined)
  );
}

/** An entry that waits for one that waits for a person is at rest. */
export function isAtRest({ state, verdict, result }: Entry, entries: readonly Entry[]): boolean {
  if (state !== 'ready' || verdict !== 'waits') return !['ready', 'sending', 'unsettled'].includes(state);
  const { waitsFor } = JSON.parse(result ?? '{}') as { waitsFor?: number };
  const before = entries.find(({ id }) => id === waitsFor);
  return (
    before !== undefined &&
    (before.state === 'parked' || (before.state === 'ready' && isAtRest(before, entries)))
  );
}

const MOST_SWEEPS = 5;
/** So many that a list is read in pages of another size. */
const SWEEPS_OF_TIES = 12;

/** Sweeps until the mirror is as the service is; whatever was put off has been carried out by then. */
async function comeToRest(stage: Stage): Promise<void> {
  const { timeline, session, service, kinds, secrets, personality } = stage;
  const isSame = (one: string, other: string, kind: string): boolean =>
    plainText(one, kind, personality) === plainText(other, kind, personality);
  const restMs = personality.ownShown === 'at once' ? 15 * MINUTE : 7 * HOUR;
  await timeline.clock.sleep(Math.max(restMs, latestMs(personality)));
  service.advance(timeline.nowMs());
  for (let sweep = 0; sweep < (personality.ties === 'none' ? MOST_SWEEPS : SWEEPS_OF_TIES); sweep++) {
    await askForSweep(stage);
    await timeline.clock.sleep(16 * MINUTE);
    const { kinds: dumps } = await session.atomically((tx) => dumpMirror(tx, kinds));
    const isEqual = kinds.every(({ name }) => {
      const live = [...(dumps.get(name)?.rows.values() ?? [])].filter(({ deletedAt }) => deletedAt === null);
      const rows = service.records.get(name)?.at(timeline.nowMs()) ?? [];
      return (
        live.length === rows.length &&
        rows.every((row) =>
          live.some(({ id, raw }) => row.id === id && isSame(raw, mayKeep(row, secrets.fields[name]), name)),
        )
      );
    });
    if (isEqual) return;
    await decideHolds(stage);
  }
}

async function record(stage: Stage): Promise<Recording> {
  const {
    session,
    kinds,
    seed,
    personality,
    service,
    pulls,
    intents,
    readBefore,
    timeline,
    secrets,
    verified,
  } = stage;
  const all = await readEntries(session, sql`select * from outbox order by id`);
  const entries: EntryRecord[] = [];
  for (const intent of intents) {
    const entry = all.find(({ id }) => id === intent.entry);
    if (entry) entries.push({ entry, intent, attempts: await readAttempts(session, entry.id) });
  }
  const final = await dumpMirror(session, kinds);
  const recording = { entries, pulls, changes: await dumpChanges(session), final, endMs: timeline.nowMs() };
  const leaks = await leaksOf(stage);
  const undone = await undoAll(stage);
  const volatile = (await readVolatile(session))?.fields ?? [];
  const { witness, goneBack, forgotten, reader } = stage;
  const log = await readMeta(session, 'log');
  return {
    seed,
    personality,
    service,
    kinds,
    secrets,
    readBefore,
    verified,
    leaks,
    undone,
    volatile,
    witness,
    goneBack,
    forgotten,
    reader,
    log,
    ...recording,
  };
}

/** Where a secret was found that our settings keep out. */
async function leaksOf({ session, secrets, tables, log }: Stage): Promise<readonly string[]> {
  if (secrets.value === '') return [];
  const isLogged = log.some((line) => line.includes(secrets.value));
  return [...(await tablesWith(session, tables, secrets.value)), ...(isLogged ? ['log'] : [])];
}
