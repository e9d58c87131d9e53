import { formatInstant } from '../../lib/time/clock.ts';
import type { WorkRef, WorkResult } from '../../lib/work-queue.ts';
import { dueEntries, raiseEntry, readBlock } from '../../store/outbox/outbox-queue.ts';
import { findEntry, type Entry } from '../../store/outbox/outbox-store.ts';
import { ClaimLostError } from './end-entry.ts';
import { sendCreate } from './create.ts';
import { settle } from './settle.ts';
import { readFrozen } from '../../store/outbox/freeze-store.ts';
import { readWorkerSends } from '../../store/runs/worker-store.ts';
import { findLastBreak } from '../last-break.ts';
import { isPaused } from '../own-sends.ts';
import type { OutboundParts } from '../parts.ts';
import { explain } from '../../words/verdicts.ts';
import { updateRecord } from './update.ts';
import { claimWork, type ClaimedWork } from './claim.ts';
import { recoverEntries } from './recover.ts';

/** The outbox as a work queue: due entries, the work on one, and recovery from dead owners. */
export function outboxWork(parts: OutboundParts) {
  const { session, clock, owner } = parts;
  const working = new Set<number>();
  return {
    due: async (limit: number) => {
      await findLastBreak(session, parts); // As early as can be: what is read from now on counts.
      // Also a process with nothing to send compares: another one may be about to send its entries again.
      const hasGoneBack = (await readWorkerSends(session, owner)) < parts.ownSends.count;
      const isStopped = hasGoneBack
        ? await session.atomically((tx) => isPaused(tx, parts))
        : (await readFrozen(session)) !== null;
      return isStopped ? [] : dueEntries(session, clock.now(), limit);
    },
    raise: (due: WorkRef) => session.atomically((tx) => raiseEntry(tx, due, clock.now())),
    work: async (due: WorkRef): Promise<WorkResult> => {
      if (working.has(due.id)) return null;
      working.add(due.id);
      try {
        return await workEntry(parts, due);
      } finally {
        working.delete(due.id);
      }
    },
    /** Frees the entries of owners that are gone, and ours that an error dropped: their journal shows their state. */
    releaseStaleClaims: (isAlive: (owner: string) => boolean) =>
      recoverEntries(parts, (entry, entryOwner) =>
        entryOwner === owner ? !working.has(entry.id) : !isAlive(entryOwner),
      ),
  };
}

/** Claims an entry and works it to its next resting state; does nothing if it is no longer due. */
async function workEntry(parts: OutboundParts, due: WorkRef): Promise<WorkResult> {
  const begunAt = parts.clock.now();
  const claimed = await claimWork(parts, due);
  if (claimed === null) return null;
  if (claimed.step === 'put_off') return { state: 'ready', verdict: claimed.verdict, hasFailed: false };
  try {
    if (claimed.step !== 'ended') await runStep(parts, claimed);
  } catch (error) {
    if (!(error instanceof ClaimLostError)) throw error;
    parts.logger.warn({ entryId: due.id }, error.message);
    return null; // The process that took it over reports its end.
  }
  const entry = await findEntry(parts.session, due.id);
  if (entry === null) return null;
  await logEntry(parts, entry, begunAt);
  const { state, verdict } = entry;
  const isPutOff = verdict === 'busy' || verdict === 'looking' || verdict === 'retry';
  return { state, verdict, hasFailed: state !== 'done' && !isPutOff };
}

async function runStep(parts: OutboundParts, claimed: ClaimedWork): Promise<void> {
  const { session, clock } = parts;
  const { kind } = claimed;
  if (claimed.step === 'send') return sendCreate(parts, kind, claimed.journalled);
  const { entry } = claimed;
  if (claimed.step === 'update') return updateRecord(parts, kind, entry);
  const journalled = await session.atomically((tx) => settle(tx, parts, { kind, entry, now: clock.now() }));
  if (journalled !== null) await sendCreate(parts, kind, journalled);
}

/** Logs the state of an entry that was worked from `begunAt` on, if it has ended or its kind is blocked now. */
async function logEntry(parts: OutboundParts, entry: Entry, begunAt: Date): Promise<void> {
  const { id, kind, operation, recordId: record, state, verdict } = entry;
  if (state === 'ready' && verdict === 'kind_blocked') await logBlock(parts, entry, begunAt);
  if (state !== 'done' && state !== 'parked' && state !== 'rejected') return;
  const { meaning, next } = explain(entry);
  const reason = (state === 'rejected' ? entry.result : null) ?? undefined;
  const facts = { event: `entry.${state}`, entryId: id, kind, record, operation, verdict, reason };
  const what = record === null ? `${operation} of ${kind}` : `${operation} of ${kind} ${record}`;
  const message = `entry ${id} (${what}) is ${state}: ${meaning} ${reason ?? ''}`.trimEnd();
  if (state === 'done') parts.logger.info(facts, message);
  else parts.logger.warn({ ...facts, next }, message);
}

/** An earlier block is already reported; each probe only extends it. */
async function logBlock(parts: OutboundParts, entry: Entry, begunAt: Date): Promise<void> {
  const { id, kind } = entry;
  const block = await readBlock(parts.session, kind);
  if (block === null || block.since < formatInstant(begunAt)) return;
  const hint = 'Check what the user of the token may write in the service.';
  const message = `writes of ${kind} are blocked: the service refuses them (${block.reason}, entry ${id}); tried again within five minutes`;
  parts.logger.warn({ event: 'kind.blocked', kind, reason: block.reason, entryId: id, hint }, message);
}
