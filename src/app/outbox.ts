import type { Config } from '../config/settings.ts';
import { systemClock } from '../lib/clock.ts';
import { readAttempts } from '../mirror/attempt-store.ts';
import type { Attempt } from '../mirror/attempt-store.ts';
import { readBlocks } from '../mirror/block-store.ts';
import type { WriteBlock } from '../mirror/block-store.ts';
import { linkedEntry } from '../mirror/link-store.ts';
import { findEntry, listEntries } from '../mirror/outbox-store.ts';
import type { Entry, EntryState } from '../mirror/outbox-store.ts';
import { adoptRecord } from '../outbound/adopt.ts';
import { abandonEntry, absent, retryEntry } from '../outbound/decide.ts';
import type { Decided } from '../outbound/decide.ts';
import { readFrozen, resumeSends } from '../outbound/frozen.ts';
import type { Frozen } from '../outbound/frozen.ts';
import { allKinds } from './kinds.ts';
import { openExistingMirror } from './open-mirror.ts';
import { openSendMark } from './send-mark.ts';

export { explain } from '../outbound/verdicts.ts';
export type { Explanation } from '../outbound/verdicts.ts';
export type { Decided } from '../outbound/decide.ts';
export type { Frozen } from '../outbound/frozen.ts';
export type { Attempt } from '../mirror/attempt-store.ts';
export type { Entry, EntryState } from '../mirror/outbox-store.ts';

/** States in the order in which they need a person. */
export const STATES: readonly EntryState[] = [
  ...(['parked', 'rejected', 'unsettled', 'sending', 'ready'] as const),
  ...(['done', 'abandoned'] as const),
];

/** States of an entry that is neither done nor given up. */
export const OPEN_STATES: readonly EntryState[] = STATES.slice(0, -2);

export interface OutboxList {
  readonly entries: readonly Entry[];
  readonly blockedKinds: readonly WriteBlock[];
  readonly frozen: Frozen | null;
}

/** Lists the latest entries in these states: what needs a person first, then the newest first. */
export async function listOutbox(
  config: Config,
  { states, limit }: { readonly states: readonly EntryState[]; readonly limit: number },
): Promise<OutboxList> {
  await using session = await openExistingMirror(config);
  const entries: Entry[] = [];
  for (const state of STATES.filter((known) => states.includes(known))) {
    const left = limit - entries.length;
    if (left > 0) entries.push(...(await listEntries(session, { states: [state], limit: left })));
  }
  return { entries, blockedKinds: await readBlocks(session), frozen: await readFrozen(session) };
}

/** An entry with everything that was tried for it. */
export interface History {
  readonly entry: Entry;
  readonly attempts: readonly Attempt[];
  /** Whether the entry is known as the maker of its record. */
  readonly isMaker: boolean;
}

/** @throws {SyncError} `outbox.absent` where there is no such entry. */
export async function readHistory(config: Config, id: number): Promise<History> {
  await using session = await openExistingMirror(config);
  const entry = await findEntry(session, id);
  if (entry === null) throw absent(id);
  const { kind, recordId } = entry;
  const maker = recordId === null ? null : await linkedEntry(session, kind, recordId);
  return { entry, attempts: await readAttempts(session, id), isMaker: maker === id };
}

/** What a person decided of an entry. */
export type Decision =
  | { readonly is: 'retry' | 'abandon'; readonly id: number }
  | { readonly is: 'adopt'; readonly id: number; readonly recordId: string };

/**
 * Carries out a person's decision.
 *
 * @throws {SyncError} `outbox.absent`, `outbox.wrong_state`, `outbox.in_work`; on `adopt` also `outbox.no_record` and
 * `outbox.record_taken`.
 */
export async function decideOutbox(config: Config, decision: Decision): Promise<Decided> {
  const now = systemClock.now();
  await using session = await openExistingMirror(config);
  if (decision.is === 'adopt')
    return await adoptRecord(session, { kinds: allKinds(config), ...decision, now });
  const carryOut = decision.is === 'retry' ? retryEntry : abandonEntry;
  return await carryOut(session, decision.id, now);
}

/** Lets sends go on; returns what had frozen them, null where nothing had. */
export async function resumeOutbox(config: Config): Promise<Frozen | null> {
  await using session = await openExistingMirror(config);
  const mark = openSendMark(config);
  try {
    return await resumeSends(session, (await mark.read()) ?? 0);
  } finally {
    mark.close();
  }
}
