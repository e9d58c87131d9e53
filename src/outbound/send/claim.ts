import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { hasRow } from '../../db/rows/rows.ts';
import { hasNaturalKeyOf, hasOtherSentValues } from '../../diff/match.ts';
import { parseObject } from '../../lib/json/json.ts';
import { parseInstant, formatInstant } from '../../lib/time/clock.ts';
import type { WorkRef } from '../../lib/work-queue.ts';
import { lastReading, readStanding, type Reading } from '../../store/kinds/kind-standing.ts';
import { readSeenNames } from '../../store/kinds/field-store.ts';
import { readAttempts } from '../../store/outbox/attempts-and-links.ts';
import { findEndedByKeys } from '../../store/outbox/ended-entries.ts';
import { claimEntry, findBlockingEntry } from '../../store/outbox/outbox-queue.ts';
import { changeEntry, laterThanStored, type Entry } from '../../store/outbox/outbox-store.ts';
import { newRecordsSince, type LiveRecord } from '../../store/records/record-store.ts';
import { requestPull } from '../../store/runs/run-requests.ts';
import type { Transaction } from '../../db/session/session.ts';
import {
  awaitFields,
  releaseEntry,
  finishEntry,
  parkBeside,
  scheduleRetry,
  postponeIfBlocked,
} from './end-entry.ts';
import { canHaveArrived } from './grade.ts';
import { journalRequest, payloadOf, type JournalledRequest } from './journal.ts';
import { readOwnRows } from '../mirror-rows.ts';
import { awaitReading, type Unsettled } from './awaited-reading.ts';
import { findLastBreak, isCurrent, type Break } from '../last-break.ts';
import { isPaused } from '../own-sends.ts';
import { planKeyFaults, validateStored } from '../intake/validate-entry.ts';
import { findHiddenKey, findHolders } from '../intake/duplicate-check.ts';
import type { OutboundParts } from '../parts.ts';

/** A claimed entry, and the work to do outside the transaction. */
export type ClaimedWork =
  | { readonly step: 'send'; readonly kind: Kind; readonly journalled: JournalledRequest }
  | { readonly step: 'update' | 'settle'; readonly kind: Kind; readonly entry: Entry };

/** What the database alone has done with an entry: it has ended, or waits for the reason of its verdict. */
type Concluded = { readonly step: 'ended' } | { readonly step: 'put_off'; readonly verdict: string };

/** Claims an entry and takes it as far as the database alone can; null where it is not due. */
export async function claimWork(parts: OutboundParts, due: WorkRef): Promise<ClaimedWork | Concluded | null> {
  const { session, clock, owner } = parts;
  return session.atomically(async (tx) => {
    if (await isPaused(tx, parts)) return null;
    const now = clock.now();
    const entry = await claimEntry(tx, { ...due, owner, now });
    if (entry === null) return null;
    if (entry.state === 'ready') return claimReady(tx, parts, entry, now);
    const kind = parts.kinds.find((kind) => kind.name === entry.kind);
    if (kind !== undefined) return { step: 'settle', kind, entry };
    const result = { faults: ['kind: the settings no longer declare it'] };
    await finishEntry(tx, entry, { state: 'parked', verdict: 'invalid', result, now });
    return { step: 'ended' };
  });
}

async function claimReady(
  tx: Transaction,
  parts: OutboundParts,
  stored: Entry,
  now: Date,
): Promise<ClaimedWork | Concluded> {
  const faults = await readPlanKeyFaults(tx, stored.key);
  const seen = await readSeenNames(tx, [stored.kind]);
  const valid = faults.length > 0 ? { faults } : validateStored(parts.kinds, stored, seen);
  if ('faults' in valid) {
    await finishEntry(tx, stored, { state: 'rejected', verdict: 'invalid', result: { ...valid }, now });
    return { step: 'ended' };
  }
  const [ended] = await findEndedByKeys(tx, [stored.key]);
  if (ended !== undefined) {
    const { id, recordId, state } = ended;
    const result = { entry: id, recordId, state };
    await finishEntry(tx, stored, { state: 'rejected', verdict: 'key_taken', result, now });
    return { step: 'ended' };
  }
  const { kind, payload, naturalKey, recordId } = valid.ok;
  // Rows that an application inserted by SQL have none of these.
  const patch = { payload, naturalKey, recordId, ...(await baseFromMirror(tx, stored, now)) };
  await changeEntry(tx, { ...stored, patch, now });
  const entry = { ...stored, ...patch };
  const before = await findBlockingEntry(tx, entry);
  if (before !== null) {
    const result = JSON.stringify({ waitsFor: before.id });
    // One at work may end while this is stored, and wake nobody.
    const since = ['ready', 'sending'].includes(before.state) ? formatInstant(now) : entry.createdAt;
    const nextAttemptAt = formatInstant(new Date(now.getTime() + retryAfterMs(since, now)));
    await releaseEntry(tx, entry, { verdict: 'waits', result, nextAttemptAt, now });
    return { step: 'put_off', verdict: 'waits' };
  }
  if (await postponeIfBlocked(tx, entry, now)) return { step: 'put_off', verdict: 'kind_blocked' };
  if (entry.operation === 'create') return claimCreate(tx, parts, { entry, now, kind });
  await changeEntry(tx, { ...entry, patch: { state: 'sending' }, now }); // From now on no list overwrites its row.
  return { step: 'update', kind, entry: { ...entry, state: 'sending' } };
}

/** The fault of an entry that an application inserted by SQL under the key of a row of a plan that is not applied. */
async function readPlanKeyFaults(tx: Transaction, key: string): Promise<readonly string[]> {
  const faults = planKeyFaults(key);
  const plan = Number(key.split(':')[1]);
  const isRemoved = sql`id > ${plan} and not exists (select 1 from plans where id = ${plan})`; // By retention.
  const applied = sql`select 1 from plans where (id = ${plan} and state = 'applied') or (${isRemoved})`;
  return faults.length === 0 || (await hasRow(tx, applied)) ? [] : faults;
}

/** An update without a base from its author takes the mirror's row as base, once its list has shown it. */
async function baseFromMirror(tx: Transaction, entry: Entry, now: Date) {
  const { operation, kind, recordId, base } = entry;
  if (operation === 'create' || base !== null || recordId === null) return null;
  const row = (await readOwnRows(tx, kind, [recordId])).get(recordId);
  return row?.isListed !== true ? null : { base: row.raw, baseAt: laterThanStored(entry, now) };
}

const RETRY_MS = 60_000;
const MAX_RETRY_MS = 3_600_000;

/**
 * Milliseconds after which an entry looks again for what it waits for, though what it waits for wakes it: as long as it has waited.
 * @param since When it began to wait, or earlier.
 */
const retryAfterMs = (since: string, now: Date): number =>
  Math.min(MAX_RETRY_MS, Math.max(RETRY_MS, now.getTime() - parseInstant(since).getTime()));

async function claimCreate(
  tx: Transaction,
  parts: OutboundParts,
  unsettled: Unsettled,
): Promise<ClaimedWork | Concluded> {
  const { kind, entry, now } = unsettled;
  // An earlier send may still arrive, so search for its record before sending again.
  if ((await readAttempts(tx, entry.id)).some(canHaveArrived)) return { step: 'settle', kind, entry };
  const lastBreak = await findLastBreak(tx, parts);
  const isCertifying = (await readStanding(tx, kind.name)).certifiedAt !== null;
  const sweep = await lastReading(tx, kind.name);
  const asked = entry.settlement.awaits?.run ?? null;
  if (sweep === null || !isCurrent(sweep, lastBreak, now) || !isEnough(sweep, asked, isCertifying))
    return postponeUntilSwept(tx, unsettled, asked);
  const ids = await findSameRecords(tx, unsettled, lastBreak);
  const hidden = ids.length > 0 ? [] : await findHiddenKey(tx, kind, entry, sweep.rows);
  if (hidden.length > 0) {
    await awaitFields(tx, entry, hidden, now);
    return { step: 'put_off', verdict: 'field_not_shown' };
  }
  if (ids.length === 0) return { step: 'send', kind, journalled: await journalRequest(tx, parts, unsettled) };
  await parkBeside(tx, unsettled, 'existed', ids);
  return { step: 'ended' };
}

/**
 * Returns whether a sweep shows well enough what is there before a create, so that a record first seen later may be ours: a list
 * that certifies needs a certificate, or a complete sweep that was requested since.
 */
export function isEnough(
  { state, runId }: Pick<Reading, 'state' | 'runId'>,
  asked: number | null,
  isCertifying: boolean,
): boolean {
  return (
    state === 'certified' || (state === 'complete' && (!isCertifying || (asked !== null && runId >= asked)))
  );
}

/** Any complete reading wakes the entry. */
async function postponeUntilSwept(
  tx: Transaction,
  unsettled: Unsettled,
  asked: number | null,
): Promise<Concluded> {
  const { kind, entry, now } = unsettled;
  const pull = { kinds: [kind.name], request: 'outbox: what is there before a create', now };
  const run = await requestPull(tx, pull);
  const awaits = { ...(await awaitReading(tx, unsettled)), run: asked ?? run };
  const waitMs = retryAfterMs(awaits.since, now);
  await scheduleRetry(tx, entry, { verdict: 'awaits_sweep', settlement: { awaits }, now, waitMs });
  return { step: 'put_off', verdict: 'awaits_sweep' };
}

/** The clock of the server that stored an entry may be ahead of the one that dates records. */
const SKEW_MS = 300_000;

/**
 * The records that a create would double: any with its natural key, which no duplicate check has seen if it was inserted by SQL.
 * Beside these, what a send that the database has forgotten may have made: it came after the entry was stored, and shows its natural
 * key, or, where equal records are no legitimate ones, all its other values: the service may have altered the key.
 */
async function findSameRecords(tx: Transaction, { kind, entry }: Unsettled, { lastEntry }: Break) {
  const isUnique = kind.repeats !== true;
  const holders = await findHolders(tx, kind, entry);
  if (holders.length > 0 || entry.id > lastEntry) return holders;
  const storedMs = parseInstant(entry.createdAt).getTime();
  const since = entry.settlement.sameSince ?? formatInstant(new Date(storedMs - SKEW_MS));
  const sent = payloadOf(entry);
  const isItsOwn = ({ raw }: LiveRecord): boolean => {
    const record = parseObject(raw);
    return hasNaturalKeyOf(kind, sent, record) || (isUnique && hasOtherSentValues(kind, sent, record));
  };
  return (await newRecordsSince(tx, kind.name, since)).filter(isItsOwn).map(({ id }) => id);
}
