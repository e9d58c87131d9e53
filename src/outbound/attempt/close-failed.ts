import { isObject } from '../../lib/json/json.ts';
import type { Json } from '../../lib/json/json.ts';
import { dropBlock } from '../../mirror/outbox/block-store.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import type { WriteAnswer } from '../../source/answer/write-answer.ts';
import { blockKind, finishAs, tryLater, waitAfter } from './conclude.ts';
import type { Grade } from './grade.ts';
import { closeWith } from './journal.ts';
import type { OutboundParts } from '../parts.ts';

interface Failed {
  readonly entry: Entry;
  readonly answer: WriteAnswer;
  readonly graded: Exclude<Grade, { readonly is: 'accepted' | 'ambiguous' }>;
  readonly now: Date;
}

/** Stores that a write has certainly changed nothing, and why; part of the transaction that closes its attempt. */
export async function closeFailed(
  tx: Transaction,
  parts: OutboundParts,
  { entry, answer, graded, now }: Failed,
): Promise<void> {
  await closeWith(tx, entry, { grade: graded.is, answer, now });
  const status = answer.is === 'answered' ? answer.status : null;
  if (graded.is === 'refused') return blockKind(tx, entry, { reason: `status ${String(status)}`, now });
  if (graded.is === 'unsent')
    return tryLater(tx, entry, { verdict: 'unreachable', now, waitMs: waitAfter(entry, parts, null) });
  await dropBlock(tx, entry.kind, now); // Its answer does not prove that the write is forbidden.
  if (graded.is === 'busy')
    return tryLater(tx, entry, { verdict: 'busy', now, waitMs: waitAfter(entry, parts, graded.waitMs) });
  const result = { status, answer: answer.is === 'answered' ? said(answer.body, answer.start) : null };
  return finishAs(tx, entry, { state: 'rejected', verdict: 'service_refused', result, now });
}

/** The service's own message, if there is one. */
function said(body: Json | undefined, start: string): string {
  const message = isObject(body) ? body['message'] : undefined;
  return typeof message === 'string' && start.includes(message) ? message : start;
}
