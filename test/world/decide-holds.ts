import { readHeldRecords } from '../../src/store/records/deletion-store.ts';
import { decideHold, readCheck } from '../../src/store/records/hold-store.ts';
import type { Stage } from './stage.ts';

const MOST_HELD = 1_000;

/** Somebody decides what is held, and has looked in the service before: what is gone is approved, what never comes back rejected. */
export async function decideHolds({
  session,
  service,
  kinds,
  timeline,
  personality,
  logLine,
}: Stage): Promise<void> {
  const { window, cut, approval } = personality;
  const isForEver = window !== 'whole' || cut !== 'whole' || approval === 'of creates, for ever';
  for (const { name } of kinds) {
    const held = await readHeldRecords(session, { kind: name, state: 'held' }, { limit: MOST_HELD });
    if (held.length === 0) continue;
    const isGone = held.every(
      ({ id }) => service.records.get(name)?.find(id, timeline.nowMs()) === undefined,
    );
    if (!isGone && !isForEver) continue;
    logLine(`— a person ${isGone ? 'approves' : 'rejects'} what is held of ${name}`);
    const check = isGone ? await readCheck(session, name, 'held') : undefined;
    await session.atomically((tx) => decideHold(tx, name, isGone ? 'approved' : 'rejected', check));
  }
}
