import { instantText } from '../../lib/time/clock.ts';
import { readBlock } from '../../mirror/outbox/block-store.ts';
import { findEntry } from '../../mirror/outbox/outbox-store.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import type { OutboundParts } from '../parts.ts';
import { explain } from '../report/verdicts.ts';

type Parts = Pick<OutboundParts, 'session' | 'logger'>;

/** Tells in the log what has become of an entry that was worked from `begunAt` on: it has ended, or its kind is blocked now. */
export async function tellEntry(parts: Parts, id: number, begunAt: Date): Promise<void> {
  const entry = await findEntry(parts.session, id);
  if (entry === null) return;
  if (entry.state === 'ready' && entry.verdict === 'kind_blocked')
    await tellBlock(parts, entry.kind, begunAt);
  if (entry.state === 'done' || entry.state === 'parked' || entry.state === 'rejected')
    tellEnd(parts, entry, entry.state);
}

function tellEnd({ logger }: Parts, entry: Entry, state: 'done' | 'parked' | 'rejected'): void {
  const { id: entryId, kind, operation, recordId: record, verdict } = entry;
  const { meaning, next } = explain(entry);
  const facts = { event: `entry.${state}`, entryId, kind, record, operation, verdict };
  const what = record === null ? `${operation} of ${kind}` : `${operation} of ${kind} ${record}`;
  const message = `entry ${entryId} (${what}) is ${state}: ${meaning}`;
  if (state === 'done') logger.info(facts, message);
  else logger.warn({ ...facts, next }, message);
}

/** A block that was there before is told already: each probe only puts it off. */
async function tellBlock({ session, logger }: Parts, kind: string, begunAt: Date): Promise<void> {
  const block = await readBlock(session, kind);
  if (block === null || block.since < instantText(begunAt)) return;
  const hint = 'Check the token, and what its user may write in the service.';
  const message = `writes of ${kind} are blocked: the service refuses them (${block.reason}); tried again within five minutes`;
  logger.warn({ event: 'kind.blocked', kind, reason: block.reason, hint }, message);
}
