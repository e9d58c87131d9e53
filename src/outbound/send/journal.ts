import type { Kind } from '../../catalog/kind.ts';
import { parseObject, isObject, type JsonObject, type Json } from '../../lib/json/json.ts';
import { formatInstant, type Clock } from '../../lib/time/clock.ts';
import { readListHolder, readTick } from '../../store/kinds/kind-standing.ts';
import { closeAttempt, openAttempt } from '../../store/outbox/attempts-and-links.ts';
import { ACCEPTED_GRADES, dropBlock, wakeForbidden } from '../../store/outbox/outbox-queue.ts';
import { changeEntry, type Entry } from '../../store/outbox/outbox-store.ts';
import { countWorkerSend } from '../../store/runs/worker-store.ts';
import { noteAcceptance } from '../../store/runs/run-store.ts';
import { latestSeq } from '../../store/records/change-store.ts';
import type { Watermark } from '../../store/records/record-store.ts';
import type { Transaction } from '../../db/session/session.ts';
import type { WriteAnswer } from '../../source/http/write-answer.ts';
import { countSend } from '../freeze.ts';
import type { OutboundParts } from '../parts.ts';
import {
  ClaimLostError,
  blockKind,
  finishEntry,
  postponeProbe,
  postponeForbidden,
  postponeRefused,
  scheduleRetry,
  retryDelayMs,
  storableAnswer,
} from './end-entry.ts';
import type { Grade } from './grade.ts';

/** A request that is in the journal, and may go out now. */
export interface JournalledRequest {
  readonly entry: Entry;
  readonly body: string;
  /** Sends from this database so far. */
  readonly sends: number;
  /** Those of this process among them. */
  readonly ownSends: number;
  /** The milliseconds since it was journalled. */
  readonly ageMs: () => number;
}

/** Journals a request before it is sent: from then on every process must assume that it was sent. */
export async function journalRequest(
  tx: Transaction,
  { clock, owner }: OutboundParts,
  { kind, entry }: { readonly kind: Kind; readonly entry: Entry },
  body = entry.payload,
): Promise<JournalledRequest> {
  const now = clock.now();
  const ageMs = startAge(clock);
  const n = entry.attempts + 1;
  const preimage = JSON.stringify({
    tick: await readTick(tx, entry.kind),
    at: formatInstant(now),
    seq: await latestSeq(tx),
    holder: await readListHolder(tx, entry.kind),
  } satisfies Watermark);
  const patch = { state: 'sending', attempts: n, preimage, nextAttemptAt: null } as const;
  if (!(await changeEntry(tx, { ...entry, patch, now }))) throw new ClaimLostError(entry.id);
  await postponeProbe(tx, entry.kind, now);
  const method = entry.operation === 'create' ? 'POST' : 'PUT';
  const path = (kind[entry.operation]?.path ?? '').replace(':id', entry.recordId ?? '');
  await openAttempt(tx, { outboxId: entry.id, n, request: `${method} ${path}\n${body}`, now });
  const ownSends = await countWorkerSend(tx, owner);
  return { entry: { ...entry, ...patch }, body, sends: await countSend(tx), ownSends, ageMs };
}

/** Measures by both clocks: the monotonic one stands while the machine is suspended, the wall clock may be set back. */
function startAge(clock: Clock): () => number {
  const startMs = clock.monotonicMs();
  const wallMs = clock.now().getTime();
  return () => Math.max(clock.monotonicMs() - startMs, clock.now().getTime() - wallMs);
}

const MAX_PAUSE_MS = 2_000;
/** Covers queueing and connecting. Shorter than the time after which other processes take over. */
const MAX_SEND_DELAY_MS = 20_000;

/**
 * Sends the journalled request, once. A process that was paused between the journal and the first byte, for so long that others
 * may take it for dead, sends nothing.
 */
export async function sendJournalled(
  parts: OutboundParts,
  kind: Kind,
  journalled: JournalledRequest,
): Promise<WriteAnswer> {
  parts.ownSends.count = Math.max(parts.ownSends.count, journalled.ownSends);
  await parts.sendCounter.write(journalled.sends, noteOf(journalled.entry, parts.clock.now()));
  if (journalled.ageMs() > MAX_PAUSE_MS) return { is: 'unsent', why: 'paused' };
  const { operation, recordId } = journalled.entry;
  const canSend = (): boolean => journalled.ageMs() <= MAX_SEND_DELAY_MS;
  return parts.source.write(
    { kind, operation, id: operation === 'update' ? recordId : null, body: journalled.body },
    { canSend },
  );
}

/** Names a send for the database that was restored from a time before it. */
function noteOf({ id, operation, kind, recordId, key }: Entry, now: Date): string {
  const record = recordId === null ? '' : ` ${recordId}`;
  return `${operation} of ${kind}${record} by entry ${id}, ${formatInstant(now)} UTC, key ${key}`;
}

/** Closes an attempt with its grade and answer. */
export async function closeWithAnswer(
  tx: Transaction,
  entry: Entry,
  { grade, answer, now }: { readonly grade: string; readonly answer: WriteAnswer; readonly now: Date },
): Promise<void> {
  const responseStart = answer.is === 'answered' ? await storableAnswer(tx, entry, answer.start) : answer.why;
  const status = answer.is === 'answered' ? answer.status : null;
  await closeAttempt(tx, { outboxId: entry.id, n: entry.attempts, grade, status, responseStart, now });
  if (ACCEPTED_GRADES.includes(grade)) await wakeForbidden(tx, entry.kind, now);
  if (PROVES_TOKEN.includes(grade)) await noteAcceptance(tx, now);
}

/** The grades of answers that the service gives only to a token that it accepts. */
const PROVES_TOKEN: readonly string[] = [...ACCEPTED_GRADES, 'rejected', 'refused'];

/** The fields that an entry wants written, by the names of a write. */
export const payloadOf = ({ payload }: { readonly payload: string }): JsonObject => parseObject(payload);

/** What the mirror knew before an entry's last send. */
export function watermarkOf(entry: Entry): Watermark {
  const known = (entry.preimage === null ? {} : JSON.parse(entry.preimage)) as Partial<Watermark>;
  const { tick = 0, at = entry.createdAt, seq = null, holder = null } = known;
  return { tick, at, seq, holder };
}

/** Stores that a write has certainly changed nothing, and why; part of the transaction that closes its attempt. */
export async function recordFailure(
  tx: Transaction,
  parts: OutboundParts,
  entry: Entry,
  failed: {
    readonly answer: WriteAnswer;
    readonly graded: Exclude<Grade, { readonly is: 'accepted' | 'ambiguous' }>;
    readonly now: Date;
  },
): Promise<void> {
  const { answer, graded, now } = failed;
  await closeWithAnswer(tx, entry, { grade: graded.is, answer, now });
  const status = answer.is === 'answered' ? answer.status : null;
  const reason = `status ${String(status)}`;
  if (graded.is === 'token_refused') return postponeRefused(tx, entry, now);
  if (graded.is === 'refused' && entry.operation === 'create') return blockKind(tx, entry, reason, now);
  if (graded.is === 'refused') return postponeForbidden(tx, parts, entry, { reason, isAlone: false, now });
  const waitMs = retryDelayMs(parts, entry.attempts, graded.is === 'busy' ? graded.waitMs : null);
  if (graded.is === 'unsent') return scheduleRetry(tx, entry, { verdict: 'unreachable', now, waitMs });
  await dropBlock(tx, entry.kind, now); // Its answer does not prove that the write is forbidden.
  if (graded.is === 'busy') return scheduleRetry(tx, entry, { verdict: 'busy', now, waitMs });
  const message = answer.is === 'answered' ? serviceMessage(answer.body, answer.start) : null;
  const result = { status, answer: message };
  return finishEntry(tx, entry, { state: 'rejected', verdict: 'service_refused', result, now });
}

/** The service's own message, if there is one. */
function serviceMessage(body: Json | undefined, start: string): string {
  const message = isObject(body) ? body['message'] : undefined;
  return typeof message === 'string' && start.includes(message) ? message : start;
}
