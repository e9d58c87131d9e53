import type { Kind } from '../../catalog/kind.ts';
import { recordId as readId } from '../../diff/compare-page.ts';
import { hasNaturalKeyOf } from '../../diff/match.ts';
import { compactJson, isArray, isObject, parseObject, type JsonObject } from '../../lib/json/json.ts';
import { SyncError, UsageError } from '../../lib/sync-error.ts';
import { sentence } from '../../lib/text/text.ts';
import { formatInstant, formatRfc3339, parseInstant } from '../../lib/time/clock.ts';
import { readAttempts, findCreator, moveLink, saveLink } from '../../store/outbox/attempts-and-links.ts';
import { mirrorInstant } from '../../store/kinds/mirror-clock.ts';
import { wakeWaiting } from '../../store/outbox/outbox-queue.ts';
import {
  changeEntry,
  findEntry,
  laterThanStored,
  type Entry,
  type EntryPatch,
  type EntryState,
} from '../../store/outbox/outbox-store.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { readLiveOwners } from '../../store/runs/worker-store.ts';
import { addNotification, entryNotification } from '../../store/notifications/notifications.ts';
import { canHaveArrived } from '../send/grade.ts';
import { payloadOf } from '../send/journal.ts';
import { describeAbsent, readOwnRows, type MirrorRow } from '../mirror-rows.ts';
import { explain } from '../../words/verdicts.ts';
import { findHoldersNow } from '../intake/duplicate-check.ts';
import { mergeUpdate, readBaseOfUpdate } from '../send/base.ts';

/** The entry after a person's decision. */
export interface DecidedEntry {
  readonly entry: Entry;
  /** Consequences of the decision that the person should know. */
  readonly warning: string | null;
}

/** A person's order of another attempt. */
interface RetryOrder {
  readonly id: number;
  /** The values that a conflict has shown may be overwritten; with the instant of the entry that showed them, no others. */
  readonly overwrite?: boolean | string | undefined;
  /** A create may make a second record of what exists already. */
  readonly allowDouble?: boolean | undefined;
  /** Who ends the waiting of a create with an unknown outcome. */
  readonly hurriedBy?: string | undefined;
}

/** The states that allow a decision, by what is said of the entry. */
const DECIDABLE = {
  retried: ['parked', 'rejected'],
  'sent again now': ['unsettled'],
  abandoned: ['ready', 'unsettled', 'parked', 'rejected'],
  'given a record': ['parked', 'unsettled', 'rejected'],
} as const satisfies Readonly<Record<string, readonly EntryState[]>>;

/** The state that each order brings about: in it, nothing is left to do. */
const ORDERED: Readonly<Record<keyof typeof DECIDABLE, EntryState>> = {
  retried: 'ready',
  'sent again now': 'ready',
  abandoned: 'abandoned',
  'given a record': 'done',
};

/**
 * Gives an entry another attempt: what is true now counts, not what parked it. A create that may have reached the service is searched
 * for once more before it is sent again; the findings stay noted, since the person has seen them. An update whose record looked like
 * another one is for that record from now on.
 * @throws {SyncError} `outbox.absent`, `outbox.wrong_state`, `outbox.in_work`; `outbox.conflict` if it would conflict again;
 * `outbox.double` if it would make a second record.
 */
export async function retryEntry(session: Session, kinds: readonly Kind[], order: RetryOrder, now: Date) {
  const { id, overwrite = false, allowDouble = false, hurriedBy } = order;
  if (hurriedBy !== undefined) return hurryEntry(session, id, hurriedBy, now);
  return await decide(session, id, 'retried', async (tx, entry) => {
    const kind = kinds.find((known) => known.name === entry.kind); // Of an unknown one, the next attempt is rejected.
    if (typeof overwrite === 'string' && overwrite !== formatRfc3339(entry.updatedAt)) throw changedSince(id);
    const accepted = kind && overwrite !== false ? await acceptConflicts(tx, kind, entry, now) : null;
    if (kind && overwrite === false) await refuseSameConflict(tx, kind, entry);
    if (kind && !allowDouble) await refuseDouble(tx, kind, entry);
    const wasTried = entry.operation === 'create' && (await readAttempts(tx, id)).length > 0;
    const answered = await answerOf(tx, entry, allowDouble, now);
    const patch: EntryPatch = wasTried ? { state: 'unsettled', verdict: 'retry' } : { ...READY, ...answered };
    await applyDecision(tx, entry, { ...patch, ...accepted, nextAttemptAt: formatInstant(now) }, now);
    return null;
  });
}

const READY = { state: 'ready', verdict: null, result: null } as const;

/** What the person answers who orders another attempt: whose record it is, and whether there may be two. */
async function answerOf(tx: Transaction, entry: Entry, allowDouble: boolean, now: Date): Promise<EntryPatch> {
  const isDouble = entry.operation === 'create' && allowDouble;
  const isAskedSame = entry.verdict === 'other_record' || isDouble;
  const sameSince = isAskedSame ? await mirrorInstant(tx, now) : entry.settlement.sameSince;
  return { settlement: { sameSince }, ...(isDouble && { allowDouble: 1 }) };
}

/**
 * Ends the waiting of a create with an unknown outcome: one certified sweep that begins from now on decides. Whatever speaks against
 * a second send still parks it.
 */
async function hurryEntry(session: Session, id: number, by: string, now: Date): Promise<DecidedEntry> {
  return await decide(session, id, 'sent again now', async (tx, entry) => {
    const { hurried } = entry.settlement;
    if (hurried !== undefined)
      throw new SyncError(`${hurried.by} has ended the waiting of entry ${id} at ${hurried.at} UTC.`, {
        code: 'outbox.wrong_state',
        hint: `bms-sync outbox show ${id}`,
      });
    const at = formatInstant(now);
    const reset = { search: undefined, resendAt: undefined }; // Another search counts.
    const settlement = { ...entry.settlement, ...reset, hurried: { by, at } };
    await applyDecision(tx, entry, { settlement, nextAttemptAt: at }, now);
    return LATE_WARNING;
  });
}

const LATE_WARNING = 'If the service carries out the lost request after that, it will have two records.';

/**
 * The base for another attempt. The values that a conflict has shown may be overwritten: they become the base of their fields, so that
 * a later change of them conflicts again.
 * @throws {SyncError} `outbox.wrong_state` if the entry shows none.
 */
async function acceptConflicts(tx: Transaction, kind: Kind, entry: Entry, now: Date): Promise<EntryPatch> {
  const { conflicts } = parseObject(entry.verdict === 'conflict' ? (entry.result ?? '{}') : '{}');
  const shown = (isArray(conflicts) ? conflicts : []).filter(isObject).flatMap(({ field, remote }) => {
    return typeof field === 'string' && remote !== undefined ? [[field, remote] as const] : [];
  });
  if (shown.length === 0)
    throw new SyncError(`Entry ${entry.id} shows no values of another user that it could overwrite.`, {
      code: 'outbox.wrong_state',
      hint: `bms-sync outbox show ${entry.id}`,
    });
  const base = { ...(await readBaseOfUpdate(tx, kind, entry)), ...Object.fromEntries(shown) };
  const at = parseInstant(await mirrorInstant(tx, now));
  return { base: compactJson(base), baseAt: laterThanStored(entry, at) };
}

/** @throws {UsageError} `outbox.double` where a create would double a record by now, whatever parked it. */
async function refuseDouble(tx: Transaction, kind: Kind, entry: Entry): Promise<void> {
  const ids = await findHoldersNow(tx, kind, entry);
  if (ids.length === 0) return;
  const { meaning, next } = explain({ ...entry, verdict: 'existed', settlement: { ids } });
  throw new UsageError(`Entry ${entry.id} would make a second record of ${entry.kind}. ${meaning}`, {
    code: 'outbox.double',
    hint: next.join('; '),
  });
}

const changedSince = (id: number): SyncError =>
  new SyncError(`Entry ${id} has changed since its values were shown.`, {
    code: 'outbox.conflict',
    hint: `Look at them again: bms-sync outbox show ${id}`,
  });

/** @throws {SyncError} `outbox.conflict` where the mirror's row shows that the entry would conflict again. */
async function refuseSameConflict(tx: Transaction, kind: Kind, entry: Entry): Promise<void> {
  const { id, recordId, verdict } = entry;
  const row = (await readOwnRows(tx, kind.name, recordId === null ? [] : [recordId])).get(recordId ?? '');
  if (verdict !== 'conflict' || row?.isLive !== true) return;
  const merged = await mergeUpdate(tx, kind, entry, { record: parseObject(row.raw) });
  if (merged.is !== 'conflict') return;
  const fields = merged.conflicts.map((conflict) => conflict.field).join(', ');
  throw new SyncError(`Entry ${id} would conflict again: another user has changed ${fields}.`, {
    code: 'outbox.conflict',
    hint: `To overwrite these values: bms-sync outbox retry ${id} --overwrite. If they have changed back since: bms-sync pull ${kind.name}`,
  });
}

/**
 * Cancels an entry: no more requests are sent for it. Changes that have reached the service stay there.
 * @throws {SyncError} `outbox.absent`, `outbox.wrong_state`, `outbox.in_work`.
 */
export async function abandonEntry(session: Session, id: number, now: Date): Promise<DecidedEntry> {
  return await decide(session, id, 'abandoned', async (tx, entry) => {
    await applyDecision(tx, entry, { state: 'abandoned', nextAttemptAt: null }, now);
    await wakeWaiting(tx, entry, now);
    const canExist = entry.operation === 'create' && (await readAttempts(tx, id)).some(canHaveArrived);
    return canExist ? SENT_ONCE_WARNING : null;
  });
}

const SENT_ONCE_WARNING =
  'The service may still have the record: it was sent once, and the outcome is unknown.';

/** Makes a decision on an entry in one transaction and reads the entry afterwards. @param work Returns a warning, or null. */
async function decide(
  session: Session,
  id: number,
  decided: keyof typeof DECIDABLE,
  work: (tx: Transaction, entry: Entry) => Promise<string | null>,
): Promise<DecidedEntry> {
  return await session.atomically(async (tx) => {
    const warning = await work(tx, await requireEntry(tx, id, decided));
    const entry = await findEntry(tx, id);
    if (entry === null) throw entryAbsent(id);
    return { entry, warning };
  });
}

/** Nothing is sent after these: a process that has ended holds no entry, and one that it was sending counts as unsettled. */
const ENDING: readonly string[] = ['abandoned', 'given a record'];

/** @throws {SyncError} If there is no such entry, or its state does not allow this decision. */
async function requireEntry(tx: Transaction, id: number, decided: keyof typeof DECIDABLE): Promise<Entry> {
  const entry = await findEntry(tx, id);
  if (entry === null) throw entryAbsent(id);
  const { owner } = entry;
  const isLeft = owner !== null && ENDING.includes(decided) && !(await readLiveOwners(tx)).has(owner);
  const state = isLeft && entry.state === 'sending' ? 'unsettled' : entry.state;
  if (!(DECIDABLE[decided] as readonly EntryState[]).includes(state)) throw wrongState(entry, decided);
  if (owner !== null && !isLeft) throw entryInWork(id);
  return entry;
}

function wrongState(entry: Entry, decided: keyof typeof DECIDABLE): SyncError {
  const { id, state, verdict } = entry;
  const only = `only an entry that is ${OR_LIST.format(DECIDABLE[decided])} can be ${decided}`;
  const isSo = state === ORDERED[decided] || (decided === 'retried' && verdict === 'retry');
  return new SyncError(`Entry ${id} is ${state}${isSo ? ' already: nothing is left to do' : `: ${only}`}.`, {
    code: 'outbox.wrong_state',
    hint: explain(entry).next.join('; ') || `bms-sync outbox show ${id}`,
  });
}

/** Applies a decision to an entry, and releases it from the worker that was notified of it. */
async function applyDecision(tx: Transaction, entry: Entry, patch: EntryPatch, now: Date): Promise<void> {
  const { id, epoch } = entry;
  if (!(await changeEntry(tx, { id, epoch, patch, now, raises: true }))) throw entryInWork(id);
}

function entryInWork(id: number): SyncError {
  return new SyncError(`Entry ${id} is being processed.`, {
    code: 'outbox.in_work',
    hint: 'Try again in a minute.',
  });
}

export function entryAbsent(idOrKey: number | string): SyncError {
  return new SyncError(`Entry ${idOrKey} is not in the outbox.`, {
    code: 'outbox.absent',
    hint: 'To list all of them: bms-sync outbox --all',
  });
}

const OR_LIST = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/**
 * Settles a create by hand: names the mirror's record that it made.
 * @throws {UsageError} `usage.id`.
 * @throws {SyncError} `outbox.absent`, `outbox.wrong_state`, `outbox.in_work`, `outbox.no_record` if the mirror has no
 * such live row, `outbox.record_taken` if another entry made it.
 */
export async function adoptRecord(
  session: Session,
  adoption: {
    readonly now: Date;
    readonly kinds: readonly Kind[];
    readonly id: number;
    readonly recordId: string;
  },
): Promise<DecidedEntry> {
  const { kinds, id, recordId, now } = adoption;
  if (!('id' in readId({ id: recordId })))
    throw new UsageError(`"${recordId}" is not the id of a record.`, { code: 'usage.id' });
  return await decide(session, id, 'given a record', async (tx, entry) => {
    if (entry.operation !== 'create')
      throw new SyncError(`Entry ${id} is an update: it has its record.`, {
        code: 'outbox.wrong_state',
        hint: `bms-sync outbox retry ${id}, or abandon ${id}`,
      });
    const { kind } = entry;
    const known = kinds.find((each) => each.name === kind); // An application may have stored anything by SQL.
    const row = known && (await readOwnRows(tx, kind, [recordId])).get(recordId);
    if (known === undefined || row?.isLive !== true) throw noRecord(entry, recordId, row);
    const link = { kind, recordId, outboxId: id };
    if (!(await saveLink(tx, link, now))) {
      const maker = await findCreator(tx, kind, recordId);
      const former = maker === null || maker === id ? null : await findEntry(tx, maker);
      if (former !== null && hasNewMaker(known, parseObject(row.raw), { former, entry }))
        await moveLink(tx, link, now);
      else if (maker !== id) throw recordTaken(entry, recordId, maker);
    }
    const adopted = { state: 'done', verdict: 'adopted', recordId } as const;
    await applyDecision(tx, entry, { ...adopted, nextAttemptAt: null }, now);
    await addNotification(tx, entryNotification('done', { ...entry, ...adopted }, now));
    await wakeWaiting(tx, entry, now);
    return null;
  });
}

/** Whether a record shows the natural key of an entry, and no more that of the one that made it: a restored service uses ids again. */
function hasNewMaker(
  kind: Kind,
  record: JsonObject,
  { former, entry }: { readonly former: Entry; readonly entry: Entry },
): boolean {
  const isOf = (maker: Entry): boolean => hasNaturalKeyOf(kind, payloadOf(maker), record);
  return isOf(entry) && !isOf(former);
}

function noRecord({ id, kind }: Entry, recordId: string, row: MirrorRow | undefined): SyncError {
  return new SyncError(sentence(describeAbsent(row, `record ${recordId} of ${kind}`)), {
    code: 'outbox.no_record',
    hint: row?.isSuppressed
      ? `No pull returns it. To end the entry: bms-sync outbox abandon ${id}`
      : `Read it first: bms-sync pull ${kind}, or bms-sync backfill ${kind} --ids ${recordId}`,
  });
}

function recordTaken(entry: Entry, recordId: string, maker: number | null): SyncError {
  const { id, kind } = entry;
  const message =
    maker === null
      ? `Entry ${id} has made another record of ${kind} already.`
      : `Record ${recordId} of ${kind} was made by entry ${maker}.`;
  const hint = `bms-sync outbox show ${maker ?? id}`;
  return new SyncError(message, { code: 'outbox.record_taken', hint });
}
