import type { Session } from '../../src/mirror/session/session.ts';
import { baseline } from '../outbound-simulation/run-schedule.ts';
import type { RecordedPull } from '../simulation/recording.ts';
import { auditDay, unlikeBaseline } from './audit.ts';
import { archive, openBooks, readArchive, thinPulls } from './books.ts';
import type { Books } from './books.ts';
import { countDay, countTables, heapInUse, mostRows } from './figures.ts';
import type { DayFigures, RowCounts } from './figures.ts';
import { liveDay } from './life.ts';
import { closeBooks, heal } from './night.ts';
import { DAY_MS } from './plan.ts';
import type { SoakPlan } from './plan.ts';
import { startProcesses } from './processes.ts';
import { setSoak } from './stage.ts';
import type { Soak, SoakOptions } from './stage.ts';
import { countEnds } from './tally.ts';
import type { Tally } from './tally.ts';

export interface PlayOptions extends SoakOptions {
  readonly session: Session;
  /** Where events are kept that the mirror forgets. */
  readonly archiveFile: string;
}

/** What a soak has come to; it ends at the first day with a finding. */
export interface Outcome {
  readonly days: readonly DayFigures[];
  readonly findings: readonly string[];
  readonly tally: Tally;
}

/** Lets the service live for the days of the plan, on one mirror, and asks all checkers every night. */
export async function playSoak(plan: SoakPlan, options: PlayOptions): Promise<Outcome> {
  const soak = setSoak(plan, options);
  const { stage } = soak;
  const failed = new Promise<never>((_resolve, reject) => {
    stage.fail = reject;
  });
  failed.catch(() => undefined); // Nobody may be waiting for it yet.
  const played = liveOn(soak, options).finally(() => {
    stage.isOver = true;
    stage.wakeUp.wake();
  });
  const all = Promise.all([played, ...startProcesses(soak)]);
  const [outcome] = await stage.timeline.drive(Promise.race([failed, all]));
  await stage.timeline.drive(Promise.race([failed, Promise.all(stage.remains)]));
  return outcome;
}

async function liveOn(soak: Soak, { archiveFile }: PlayOptions): Promise<Outcome> {
  const { stage, plan, tally } = soak;
  stage.isCalm = true;
  await baseline(stage);
  const began = openBooks(lastPull(stage));
  let books = began;
  await forget(soak);
  const days: DayFigures[] = [];
  for (let day = 1; day <= plan.days; day++) {
    const startedMs = performance.now();
    const night = await liveThrough(soak, books, { day, archiveFile });
    books = night.books;
    await forget(soak);
    const [heap, { rss }] = [heapInUse(), process.memoryUsage()];
    days.push({ day, ...night.counts, wallMs: performance.now() - startedMs, rows: night.rows, heap, rss });
    if (night.findings.length > 0) return { days, tally, findings: night.findings };
  }
  return { days, tally, findings: unlikeBaseline(began.opening, books.opening, readArchive(archiveFile)) };
}

interface Day {
  readonly day: number;
  readonly archiveFile: string;
}

/** One day from seven in the morning to the next; nothing of its truth is held on to but what the next one needs. */
async function liveThrough(soak: Soak, books: Books, { day, archiveFile }: Day) {
  const { stage } = soak;
  stage.isCalm = false;
  const state = { isOver: false };
  const watching = watch(soak, books, state);
  await liveDay(soak, day);
  await heal(soak);
  const restMs = day * DAY_MS - stage.timeline.nowMs();
  if (restMs > 0) await stage.timeline.clock.sleep(restMs);
  state.isOver = true;
  const rows = await watching;

  const audit = await auditDay(soak, books);
  archive(archiveFile, audit.recording.changes);
  countEnds(soak.tally, audit.recording.entries);
  await closeBooks(stage);
  return {
    ...{ counts: countDay(audit), rows },
    findings: audit.findings.map((finding) => `day ${day}: ${finding}`),
    books: openBooks(audit.closing),
  };
}

const HOUR_MS = 3_600_000;

/** Counts rows every hour until the day is over, and keeps what is recorded of it small; returns the most rows there were. */
async function watch(soak: Soak, books: Books, state: { readonly isOver: boolean }): Promise<RowCounts> {
  const { session, pulls, timeline } = soak.stage;
  let most: RowCounts = {};
  for (let thinned = 0; !state.isOver;) {
    await timeline.clock.sleep(HOUR_MS);
    thinPulls(soak, books, thinned);
    thinned = pulls.length;
    most = mostRows(most, await countTables(session));
  }
  return most;
}

function lastPull({ pulls }: Soak['stage']): RecordedPull {
  const last = pulls.at(-1);
  if (last === undefined) throw new TypeError('There was no pull yet.');
  return last;
}

/** Lets go of what was, so that what grows in memory is not the truth of the test. */
async function forget({ stage, read }: Soak): Promise<void> {
  await Promise.all(stage.remains.splice(0));
  [stage.sends.length, stage.pulls.length] = [0, 0];
  stage.intents.clear();
  for (const { world } of [...stage.services, read]) world.forgetPast();
}
