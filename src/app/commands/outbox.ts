import { allKinds } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { systemClock } from '../../lib/time/clock.ts';
import type { EntryState } from '../../mirror/outbox/outbox-store.ts';
import { adoptRecord, abandonEntry, retryEntry } from '../../outbound/decisions/decide.ts';
import type { DecidedEntry } from '../../outbound/decisions/decide.ts';
import { readHistory as historyOf, listOutbox as entriesIn } from '../../outbound/decisions/entry-list.ts';
import type { History, OutboxList } from '../../outbound/decisions/entry-list.ts';
import { resumeSends } from '../../outbound/freeze.ts';
import type { Frozen } from '../../outbound/freeze.ts';
import { openExistingMirror } from '../open-mirror.ts';
import { openSendMark } from '../../outbound/send-mark.ts';

export { explain } from '../../outbound/decisions/verdicts.ts';
export { OPEN_STATES, STATES } from '../../outbound/decisions/entry-list.ts';
export {
  candidatesOf,
  entryDocument,
  historyDocument,
  jsonOrText,
} from '../../outbound/decisions/entry-list.ts';
export type { History, OutboxList } from '../../outbound/decisions/entry-list.ts';
export type { Attempt } from '../../mirror/outbox/attempts-and-links.ts';
export type { Entry, EntryState } from '../../mirror/outbox/outbox-store.ts';

/** Lists the latest entries in these states: those that need a person first, then the newest first. */
export async function listOutbox(
  config: Config,
  wanted: { readonly states: readonly EntryState[]; readonly limit: number },
): Promise<OutboxList> {
  await using session = await openExistingMirror(config);
  return await entriesIn(session, wanted);
}

/** @throws {SyncError} `outbox.absent` if there is no such entry. */
export async function readHistory(config: Config, id: number): Promise<History> {
  await using session = await openExistingMirror(config);
  return await historyOf(session, id);
}

/** A person's decision on an entry. */
export type EntryDecision =
  | { readonly is: 'retry' | 'abandon'; readonly id: number }
  | { readonly is: 'adopt'; readonly id: number; readonly recordId: string };

/**
 * Carries out a person's decision.
 *
 * @throws {SyncError} `outbox.absent`, `outbox.wrong_state`, `outbox.in_work`; on `adopt` also `outbox.no_record` and
 * `outbox.record_taken`.
 */
export async function decideOutbox(config: Config, decision: EntryDecision): Promise<DecidedEntry> {
  const now = systemClock.now();
  await using session = await openExistingMirror(config);
  if (decision.is === 'adopt')
    return await adoptRecord(session, { kinds: allKinds(config), ...decision, now });
  const carryOut = decision.is === 'retry' ? retryEntry : abandonEntry;
  return await carryOut(session, decision.id, now);
}

/** Resumes sends; returns the reason that had frozen them, or null. */
export async function resumeOutbox(config: Config): Promise<Frozen | null> {
  await using session = await openExistingMirror(config);
  const mark = await openSendMark(config);
  try {
    return await resumeSends(session, (await mark.read()) ?? 0);
  } finally {
    mark.close();
  }
}
