import { staleKinds, type Schedule } from '../runs/schedule.ts';
import { formatInstant, formatDuration, parseInstant } from '../lib/time/clock.ts';
import { isOff, readFreshness } from '../store/kinds/status-store.ts';
import type { Queryable } from '../db/session/session.ts';
import { openRuns, readAppliesSince } from '../store/runs/open-runs.ts';
import { readRepeats } from '../store/runs/repeats.ts';
import { repeatTask, type MirrorContext } from '../db/mirror-context.ts';
import { addNotification } from '../store/notifications/notifications.ts';

/** Reads which scheduled kinds are stale now; one that is read or about to be read is not. */
export async function readStale(...asked: Parameters<typeof readAllStale>) {
  const stale = await readAllStale(...asked);
  return stale.flatMap(({ kind, since, isBeingRead }) =>
    isBeingRead ? [] : [{ kind, since: since && formatInstant(since) }],
  );
}

/** A kind is stale, too, once a slot and the repeats of an hour could not read it. */
const LONG_REPEATED_MS = 3_600_000;

/** @param moment `repeats`: if they were read already. */
async function readAllStale(
  db: Queryable,
  schedules: readonly Schedule[],
  moment: { readonly now: Date; readonly repeats?: Awaited<ReturnType<typeof readRepeats>> },
) {
  const { now, repeats = await readRepeats(db) } = moment;
  const kinds = await readFreshness(db);
  const off = kinds.filter(isOff).map((freshness) => freshness.kind); // A kind that is off misses no reading.
  const longRepeated = repeats
    .filter(({ slot }) => now.getTime() - slot.getTime() >= LONG_REPEATED_MS)
    .map((repeat) => repeat.kind);
  const appliesSince = await readAppliesSince(db);
  const sweptAt = new Map(
    kinds.map(({ kind, lastSweepAt: at }) => [kind, at === null ? null : parseInstant(at)]),
  );
  const all = staleKinds(schedules, { sweptAt, longRepeated, appliesSince, now });
  const stale = all.filter((staleKind) => !off.includes(staleKind.kind));
  const beingRead = stale.length === 0 ? [] : (await openRuns(db)).flatMap((run) => run.kinds);
  return stale.map((staleKind) => ({ ...staleKind, isBeingRead: beingRead.includes(staleKind.kind) }));
}

const CHECK_MS = 60_000;

/** Logs scheduled kinds whose lists are no longer read to the end. Returns a function that stops it. */
export function startStaleWatch(mirror: MirrorContext, schedules: readonly Schedule[]): () => Promise<void> {
  const task = createStaleCheck(mirror, schedules);
  return repeatTask(mirror, 'looking for stale kinds', CHECK_MS, task).stop;
}

/** Creates the check that logs each kind once when it becomes stale. A kind that is being read, or is due, is not stale. */
export function createStaleCheck(context: MirrorContext, schedules: readonly Schedule[]) {
  const { session, clock, logger } = context;
  const startedAt = clock.now();
  let loggedKinds: ReadonlySet<string> = new Set();
  return async (): Promise<void> => {
    const now = clock.now();
    if (now.getTime() - startedAt.getTime() < CHECK_MS) return; // Slots that were missed get their runs first.
    const stale = await readAllStale(session, schedules, { now });
    const logged = stale.filter(({ kind }) => loggedKinds.has(kind));
    const newlyStale = stale.filter((one) => !logged.includes(one) && !one.isBeingRead);
    for (const { kind, since } of newlyStale) {
      const age = since === null ? 'ever' : `for ${formatDuration(now.getTime() - since.getTime())}`;
      logger.warn(
        { event: 'kind.stale', kind, since: since?.toISOString() ?? null },
        `the list of ${kind} was not read to its end ${age}: its scheduled pulls failed or did not run`,
      );
    }
    if (newlyStale.length > 0)
      await session.atomically(async (tx) => {
        for (const { kind, since } of newlyStale) {
          const facts = { since: since?.toISOString() ?? null };
          await addNotification(tx, { type: 'kind.stale', kind, facts, key: String(facts.since), now });
        }
      });
    loggedKinds = new Set([...logged, ...newlyStale].map(({ kind }) => kind));
  };
}
