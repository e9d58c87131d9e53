import { allKinds } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { systemClock } from '../../lib/time/clock.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import { isServed } from '../../mirror/runs/worker-store.ts';
import type { Session } from '../../mirror/session/session.ts';
import { readFrozen } from '../../outbound/freeze.ts';
import type { Frozen } from '../../outbound/freeze.ts';
import { checkEntries } from '../../outbound/intake/entry-request.ts';
import type { EntryRequest } from '../../outbound/intake/entry-request.ts';
import { checkRequests, storeChecked } from '../../outbound/intake/intake.ts';
import type { StoredEntry } from '../../outbound/intake/intake.ts';
import { previewEntry } from '../../outbound/intake/preview.ts';
import type { Preview } from '../../outbound/intake/preview.ts';
import { waitForEntries } from '../../outbound/decisions/entry-list.ts';
import { createOwner } from '../../pull/run/parts.ts';
import { openExistingMirror } from '../open-mirror.ts';
import type { Role } from '../roles.ts';

export { readBatch } from '../../outbound/intake/entry-request.ts';
export type { EntryRequest } from '../../outbound/intake/entry-request.ts';
export type { StoredEntry } from '../../outbound/intake/intake.ts';
export type { Preview, RequestShown } from '../../outbound/intake/preview.ts';

/**
 * Puts creates and updates into the outbox, all or none.
 *
 * @throws {UsageError} `outbox.invalid` with all faults. @throws {SyncError} `outbox.key_taken`.
 */
export async function push(
  config: Config,
  requests: readonly EntryRequest[],
): Promise<readonly StoredEntry[]> {
  await using session = await openMirrorOf(config, requests);
  const checked = await checkRequests(session, allKinds(config), requests);
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
  await using session = await openMirrorOf(config, requests);
  const checked = await checkRequests(session, allKinds(config), requests);
  const previews: Preview[] = [];
  for (const entry of checked) previews.push(await previewEntry(session, entry));
  return previews;
}

/** Opens the mirror; the faults of requests that no mirror could take are reported even if there is none. */
async function openMirrorOf(config: Config, requests: readonly EntryRequest[]): Promise<Session> {
  try {
    return await openExistingMirror(config);
  } catch (error) {
    const lenient = requests.map((request) => ({ ...request, allowUnknown: true }));
    checkEntries(allKinds(config), lenient, new Map());
    throw error;
  }
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

const WRITES_OFF = 'outbound.writes is off (BMS_WRITES): nothing is sent.';
const NOT_SERVED = 'no bms-sync serve sends from this outbox: nothing is sent until one does.';

/** Why nothing is sent at present, as far as the rows show; null where a live process sends. */
export async function whyUnsent(config: Config): Promise<string | null> {
  await using session = await openExistingMirror(config);
  const frozen = await readFrozen(session);
  if (frozen !== null) return frozenWords(frozen);
  const sends: Role = 'outbound';
  if (await isServed(session, sends, { now: systemClock.now(), isDead: createOwner().isDead })) return null;
  return config.outbound.writes === 'off' ? WRITES_OFF : NOT_SERVED;
}

const frozenWords = ({ reason, since }: Frozen): string =>
  `nothing is sent since ${since} UTC: ${reason}. When you have looked: bms-sync outbox resume`;
