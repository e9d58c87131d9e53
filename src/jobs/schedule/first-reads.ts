import { sweptKinds } from '../../mirror/kinds/status-store.ts';
import { requestSlot } from '../../mirror/runs/slot-requests.ts';
import type { ScheduleParts } from '../schedule.ts';
import { startCheck } from '../schedule.ts';

const CHECK_MS = 10_000;

/**
 * Requests a first pull of the scheduled kinds that were never read to the end, without waiting for their slots. Returns a
 * function that stops it.
 */
export function startFirstReads(parts: ScheduleParts, kinds: readonly string[]): () => Promise<void> {
  return startCheck(parts, {
    everyMs: CHECK_MS, // Only until one has succeeded: the database may be away while serve starts.
    name: 'requesting the first pull',
    task: createFirstReads(parts, kinds),
  });
}

/** Creates the check that requests the first pull, once. */
export function createFirstReads(parts: ScheduleParts, kinds: readonly string[]): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    const swept = await sweptKinds(parts.session);
    const unread = kinds.filter((kind) => !swept.has(kind));
    if (unread.length > 0) await ask(parts, unread);
    isDone = true;
  };
}

async function ask(
  { session, clock, logger, isDead }: ScheduleParts,
  kinds: readonly string[],
): Promise<void> {
  const now = clock.now();
  // As a slot: several processes that start together request one run.
  const request = { schedule: 'first_read', slot: now, kinds, pages: null, now, isDead };
  const end = await session.atomically((tx) => requestSlot(tx, request));
  if (end.is === 'requested')
    logger.info({ runId: end.runId, kinds }, 'kinds that are scheduled and were never read are read now');
}
