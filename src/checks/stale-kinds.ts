import { staleKinds, STALE_SLOTS, type Schedule } from '../runs/schedule.ts';
import { formatInstant, formatDuration } from '../lib/time/clock.ts';
import { isOff, readFreshness, sweptAtOf } from '../store/kinds/status-store.ts';
import type { StaleKind } from '../store/needs/read-needs.ts';
import { openRuns } from '../store/runs/open-runs.ts';
import { repeatMirrorTask, type MirrorContext } from '../db/mirror-context.ts';
import { addNotification, staleNotification } from '../store/webhooks/notifications.ts';

/** Reads which scheduled kinds are stale now; one that is read or about to be read is not. @param startedAt When this process started. */
export async function readStale(
  session: MirrorContext['session'],
  schedules: readonly Schedule[],
  startedAt: Date,
  now: Date,
): Promise<readonly StaleKind[]> {
  const stale = await findStale(session, schedules, startedAt, now);
  const reading = stale.length === 0 ? [] : (await openRuns(session)).flatMap((run) => run.kinds);
  const others = stale.filter((staleKind) => !reading.includes(staleKind.kind));
  return others.map((other) => ({
    kind: other.kind,
    since: other.since === null ? null : formatInstant(other.since),
  }));
}

/** A kind that is off misses no reading. */
async function findStale(
  session: MirrorContext['session'],
  schedules: readonly Schedule[],
  startedAt: Date,
  now: Date,
) {
  const kinds = await readFreshness(session);
  const off = kinds.filter(isOff).map(({ kind }) => kind);
  const stale = staleKinds(schedules, { sweptAt: sweptAtOf(kinds), startedAt, now });
  return stale.filter(({ kind }) => !off.includes(kind));
}

const CHECK_MS = 60_000;

/** Logs scheduled kinds whose lists are no longer read to the end. Returns a function that stops it. */
export function startStaleWatch(mirror: MirrorContext, schedules: readonly Schedule[]): () => Promise<void> {
  const task = createStaleCheck(mirror, schedules);
  return repeatMirrorTask(mirror, 'looking for stale kinds', CHECK_MS, task).stop;
}

/** Creates the check that logs each kind once when it becomes stale. A kind that is being read, or is due, is not stale. */
export function createStaleCheck(
  context: MirrorContext,
  schedules: readonly Schedule[],
): () => Promise<void> {
  const { session, clock, logger } = context;
  const startedAt = clock.now();
  let loggedKinds: readonly string[] = [];
  return async () => {
    const now = clock.now();
    if (now.getTime() - startedAt.getTime() < CHECK_MS) return; // Slots that were missed get their runs first.
    const reading = new Set((await openRuns(session)).flatMap((run) => run.kinds));
    const stale = await findStale(session, schedules, startedAt, now);
    const known = stale.map((staleKind) => staleKind.kind).filter((kind) => loggedKinds.includes(kind));
    const newlyStale = stale.filter(
      (staleKind) => !known.includes(staleKind.kind) && !reading.has(staleKind.kind),
    );
    for (const { kind, since } of newlyStale) {
      const age = since === null ? 'ever' : `for ${formatDuration(now.getTime() - since.getTime())}`;
      logger.warn(
        { event: 'kind.stale', kind, since: since?.toISOString() ?? null },
        `the list of ${kind} was not read to its end ${age}: ${STALE_SLOTS} scheduled pulls were missed`,
      );
    }
    if (newlyStale.length > 0)
      await session.atomically(async (tx) => {
        for (const { kind, since } of newlyStale)
          await addNotification(tx, staleNotification(kind, since, now));
      });
    loggedKinds = [...known, ...newlyStale.map((staleKind) => staleKind.kind)];
  };
}
