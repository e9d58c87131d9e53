import type { Kind } from '../../catalog/kind.ts';
import { recordId as readId } from '../../diff/judge-page.ts';
import { SyncError, UsageError } from '../../lib/sync-error.ts';
import { linkedEntry, saveLink } from '../../mirror/outbox/link-store.ts';
import { wakeWaiting } from '../../mirror/outbox/outbox-queue.ts';
import type { Entry, EntryState } from '../../mirror/outbox/outbox-store.ts';
import type { Session, Transaction } from '../../mirror/session/session.ts';
import { change, decide, entryIn } from './decide.ts';
import type { DecidedEntry } from './decide.ts';
import { readRows } from '../attempt/land-own.ts';

const ADOPTING: readonly EntryState[] = ['parked', 'unsettled', 'rejected'];

interface Adoption {
  readonly kinds: readonly Kind[];
  /** The id of the create's entry. */
  readonly id: number;
  /** The id of the record that the create made, according to the person. */
  readonly recordId: string;
  readonly now: Date;
}

/**
 * Settles a create by hand: names the mirror's record that it made.
 *
 * @throws {UsageError} `usage.id`.
 * @throws {SyncError} `outbox.absent`, `outbox.wrong_state`, `outbox.in_work`, `outbox.no_record` if the mirror has no
 * such live row, `outbox.record_taken` if another entry made it.
 */
export async function adoptRecord(
  session: Session,
  { kinds, id, recordId, now }: Adoption,
): Promise<DecidedEntry> {
  if (!('id' in readId({ id: recordId })))
    throw new UsageError(`"${recordId}" is not the id of a record.`, { code: 'usage.id' });
  return await decide(session, async (tx) => {
    const entry = await entryIn(tx, { id, states: ADOPTING, verb: 'given a record' });
    if (entry.operation !== 'create')
      throw new SyncError(`Entry ${id} is an update: it has its record.`, {
        code: 'outbox.wrong_state',
        hint: `bms-sync outbox retry ${id}, or abandon ${id}`,
      });
    await requireLive(tx, { kinds, entry, recordId });
    await link(tx, { entry, recordId, now });
    await change(tx, {
      entry,
      patch: { state: 'done', verdict: 'adopted', recordId, nextAttemptAt: null },
      now,
    });
    await wakeWaiting(tx, entry, now);
    return { id, warning: null };
  });
}

interface Claimed {
  readonly kinds: readonly Kind[];
  readonly entry: Entry;
  readonly recordId: string;
}

async function requireLive(tx: Transaction, { kinds, entry, recordId }: Claimed): Promise<void> {
  const { kind } = entry;
  const isKind = kinds.some(({ name }) => name === kind); // An application may have stored anything by SQL.
  const row = isKind ? (await readRows(tx, kind, [recordId])).get(recordId) : undefined;
  if (row?.isLive === true) return;
  const message = row === undefined ? 'does not have' : 'holds as deleted';
  throw new SyncError(`The mirror ${message} record ${recordId} of ${kind}.`, {
    code: 'outbox.no_record',
    hint: `Read it first: bms-sync pull ${kind}, or bms-sync backfill ${kind} --ids ${recordId}`,
  });
}

interface Linking {
  readonly entry: Entry;
  readonly recordId: string;
  readonly now: Date;
}

async function link(tx: Transaction, { entry, recordId, now }: Linking): Promise<void> {
  const { id: outboxId, kind } = entry;
  if (await saveLink(tx, { kind, recordId, outboxId }, now)) return;
  const maker = await linkedEntry(tx, kind, recordId);
  if (maker === outboxId) return;
  const message =
    maker === null
      ? `Entry ${outboxId} has made another record of ${kind} already.`
      : `Record ${recordId} of ${kind} was made by entry ${maker}.`;
  throw new SyncError(message, {
    code: 'outbox.record_taken',
    hint: `bms-sync outbox show ${maker ?? outboxId}`,
  });
}
