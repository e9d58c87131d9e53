import { allKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { systemClock } from '../lib/clock.ts';
import type { Entry } from '../mirror/outbox/outbox-store.ts';
import { checkEntries } from '../outbound/intake/entry-request.ts';
import type { EntryRequest } from '../outbound/intake/entry-request.ts';
import { storeChecked } from '../outbound/intake/intake.ts';
import type { StoredEntry } from '../outbound/intake/intake.ts';
import { previewEntry } from '../outbound/intake/preview.ts';
import type { Preview } from '../outbound/intake/preview.ts';
import { waitForEntries } from '../outbound/report/wait-for-entry.ts';
import { openExistingMirror } from './open-mirror.ts';

export { readBatch } from '../outbound/intake/entry-request.ts';
export type { EntryRequest } from '../outbound/intake/entry-request.ts';
export type { StoredEntry } from '../outbound/intake/intake.ts';
export type { Preview, RequestShown } from '../outbound/intake/preview.ts';

/**
 * Puts creates and updates into the outbox, all or none.
 *
 * @throws {UsageError} `outbox.invalid` with all faults. @throws {SyncError} `outbox.key_taken`.
 */
export async function push(
  config: Config,
  requests: readonly EntryRequest[],
): Promise<readonly StoredEntry[]> {
  const checked = checkEntries(allKinds(config), requests);
  await using session = await openExistingMirror(config);
  return await storeChecked(session, checked, systemClock.now());
}

/**
 * Previews the effect of requests; stores and sends nothing.
 *
 * @throws {UsageError} `outbox.invalid` with everything that is wrong.
 */
export async function previewPush(
  config: Config,
  requests: readonly EntryRequest[],
): Promise<readonly Preview[]> {
  const checked = checkEntries(allKinds(config), requests);
  await using session = await openExistingMirror(config);
  const previews: Preview[] = [];
  for (const entry of checked) previews.push(await previewEntry(session, entry));
  return previews;
}

interface WaitOptions {
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** The state of an entry after waiting for it. */
export type Outcome = Pick<Entry, 'id' | 'state' | 'verdict' | 'recordId' | 'result'>;

/** Waits until entries are done or cannot go on by themselves, or the time is up. */
export async function waitForOutcomes(
  config: Config,
  ids: readonly number[],
  { seconds, signal }: WaitOptions,
): Promise<readonly Outcome[]> {
  await using session = await openExistingMirror(config);
  return await waitForEntries(session, ids, { clock: systemClock, timeoutMs: seconds * 1000, signal });
}
