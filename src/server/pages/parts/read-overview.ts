import { isListed } from '../../../catalog/kind.ts';
import { latestSeq, latestChanges } from '../../../feed/read-changes.ts';
import type { RecordedChange } from '../../../feed/read-changes.ts';
import { nextSlots, staleKinds } from '../../../jobs/schedule.ts';
import type { Schedule } from '../../../jobs/schedule.ts';
import { instantOf } from '../../../lib/time/clock.ts';
import { readDamage } from '../../../mirror/sqlite/integrity-check.ts';
import { readFreshness } from '../../../mirror/kinds/status-store.ts';
import type { KindFreshness } from '../../../mirror/kinds/status-store.ts';
import { readBlocks } from '../../../mirror/outbox/outbox-queue.ts';
import { countEntries, listEntries } from '../../../mirror/outbox/outbox-store.ts';
import type { EntryState } from '../../../mirror/outbox/outbox-store.ts';
import { readDisappeared } from '../../../mirror/records/deletion-store.ts';
import { listRuns, sumsOfRuns } from '../../../mirror/runs/run-store.ts';
import type { Run, RunSums } from '../../../mirror/runs/run-store.ts';
import { isServed } from '../../../mirror/runs/worker-store.ts';
import { openRuns } from '../../../mirror/runs/open-runs.ts';
import { listEndpoints } from '../../../mirror/webhooks/endpoint-store.ts';
import { readFrozen } from '../../../outbound/freeze.ts';
import { nextPulls } from '../../status.ts';
import type { Dashboard } from './page.ts';
import { needsYou } from './needs.ts';
import type { Need } from './needs.ts';

/** A kind's line of the overview. */
export interface KindLine extends KindFreshness {
  /** Null = not counted yet. */
  readonly rows: number | null;
  /** Change events an hour, the oldest first; null = not counted yet. */
  readonly hours: readonly number[] | null;
  /** The next slot of a schedule that reads it, UTC; null if it has none. */
  readonly nextAt: string | null;
  /** Three slots have passed since its list was read to its end. */
  readonly isStale: boolean;
}

/** A run with what it changed. */
export type SummedRun = Run & { readonly sums: RunSums };

/** The facts of the overview. */
export interface Overview {
  readonly now: Date;
  readonly database: string;
  readonly latest: number;
  readonly kinds: readonly KindLine[];
  readonly needs: readonly Need[];
  readonly changes: readonly RecordedChange[];
  readonly runs: readonly SummedRun[];
  readonly outbox: Partial<Record<EntryState, number>>;
  /** Whether a process is at work that pulls by its schedules. */
  readonly isServed: boolean;
}

const [CHANGES_SHOWN, RUNS_SHOWN, PARKED_SHOWN] = [14, 6, 5];

export async function readOverview(dashboard: Dashboard): Promise<Overview> {
  const { session, clock, isDead } = dashboard;
  const now = clock.now();
  const latest = await latestSeq(session);
  const [kinds, outbox, changes, runs, serves] = await Promise.all([
    readKindLines(dashboard, now),
    countEntries(session),
    latestChanges(session, { limit: CHANGES_SHOWN }),
    readRuns(dashboard, { limit: RUNS_SHOWN }),
    isServed(session, 'pulls', { now, isDead }),
  ]);
  const needs = await readNeeds(dashboard, kinds, outbox.parked ?? 0);
  const read = { latest, kinds, outbox, needs, changes, runs, isServed: serves };
  return { now, database: session.location, ...read };
}

/** How fresh each kind with a list is, in the order of the catalogue. */
export async function readKindLines(dashboard: Dashboard, now: Date): Promise<readonly KindLine[]> {
  const { session, kinds, rowCounts, activity, schedules } = dashboard;
  const fresh = new Map((await readFreshness(session)).map((line) => [line.kind, line]));
  const names = kinds.filter(isListed).map(({ name }) => name);
  const listed = names.flatMap((name) => fresh.get(name) ?? []);
  const [rows, hours, stale] = await Promise.all([
    rowCounts.read(listed),
    activity.read(now),
    staleNow(dashboard, fresh, now),
  ]);
  const next = new Map(nextPulls(nextSlots(schedules, now), names).map((slot) => [slot.kind, slot]));
  return listed.map((line) => {
    const { kind } = line;
    const seen = { rows: rows.get(kind) ?? null, hours: hours === null ? null : (hours.get(kind) ?? []) };
    return { ...line, ...seen, nextAt: next.get(kind)?.at ?? null, isStale: stale.has(kind) };
  });
}

const readsWhole = ({ pages, verifies }: Schedule): boolean => pages === null && verifies === undefined;

/** The stale kinds; one that is read or about to be read is not. */
async function staleNow(
  { session, schedules, startedAt }: Dashboard,
  fresh: ReadonlyMap<string, KindFreshness>,
  now: Date,
): Promise<ReadonlySet<string>> {
  const sweptAt = new Map(
    [...fresh].map(([kind, { last_sweep_at: at }]) => [kind, at === null ? null : instantOf(at)]),
  );
  const stale = staleKinds(schedules.filter(readsWhole), { sweptAt, startedAt, now });
  if (stale.length === 0) return new Set();
  const reading = new Set((await openRuns(session)).flatMap((run) => run.kinds));
  return new Set(stale.map(({ kind }) => kind).filter((kind) => !reading.has(kind)));
}

async function readNeeds(
  { session }: Dashboard,
  kinds: readonly KindLine[],
  parkedInAll: number,
): Promise<readonly Need[]> {
  const [disappeared, damage, frozen, parked, blocks, endpoints] = await Promise.all([
    readDisappeared(session),
    readDamage(session),
    readFrozen(session),
    parkedInAll === 0 ? [] : listEntries(session, { states: ['parked'], limit: PARKED_SHOWN }),
    readBlocks(session),
    listEndpoints(session),
  ]);
  const held = disappeared.filter(({ state }) => state === 'held');
  return needsYou({ kinds, held, parked, parkedInAll, damage, frozen, blocks, endpoints });
}

/** The latest runs before an id, newest first. */
export async function readRuns(
  { session, clock }: Dashboard,
  wanted: { readonly limit: number; readonly before?: number | undefined },
): Promise<readonly SummedRun[]> {
  const runs = await listRuns(session, { ...wanted, now: clock.now() });
  const sums = await sumsOfRuns(
    session,
    runs.map(({ id }) => id),
  );
  const none = { rows: 0, changes: 0 };
  return runs.map((run) => ({ ...run, sums: sums.get(run.id) ?? none }));
}
