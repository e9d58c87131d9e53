import type { Kind } from '../../catalog/kind.ts';
import {
  findIdentityDifferences,
  findKeyDifferences,
  type IdentityDifference,
} from '../../diff/identity-differences.ts';
import { parseObject, type JsonObject } from '../../lib/json/json.ts';
import { hasFirstBase, updatesOf, type Entry } from '../../store/outbox/outbox-store.ts';
import { readPasts, type RecordPast } from '../../store/records/change-store.ts';
import { findRecord } from '../../store/records/record-store.ts';
import type { Queryable } from '../../db/session/session.ts';
import { payloadOf } from './journal.ts';

/**
 * Finds whether the id of a record belongs to another one by now: it was deleted or came back meanwhile, or the contents show it.
 * Returns the fields that show it; null where it is the same record.
 */
export async function findOtherRecord(
  db: Queryable,
  kind: Kind,
  past: RecordPast | undefined,
  seen: { readonly id: string; readonly base?: JsonObject; readonly remote: JsonObject },
): Promise<readonly IdentityDifference[] | null> {
  const { id, base = parseObject(past?.before ?? '{}'), remote } = seen;
  const signs = findIdentityDifferences(kind, base, remote, []);
  if (past?.isReplaced === true) return signs;
  if (signs.length === 0) return null;
  const ourUpdates = (await updatesOf(db, kind.name, id)).map(payloadOf);
  const otherSigns = findIdentityDifferences(kind, base, remote, ourUpdates);
  return otherSigns.length > 0 ? otherSigns : null;
}

/** The same for the record of an update, by what its author and the mirror knew of it when the update was stored. */
export async function findOtherTarget(
  db: Queryable,
  kind: Kind,
  entry: Entry,
  remote: JsonObject,
): Promise<readonly IdentityDifference[] | null> {
  const { recordId, createdAt } = entry;
  const id = recordId ?? '';
  const past = (await readPasts(db, kind.name, [id], createdAt)).get(id);
  const mirrored = past === undefined ? (await findRecord(db, kind.name, id))?.raw : past.before;
  const authorBase = hasFirstBase(entry) ? entry.base : null;
  const base = { ...parseObject(mirrored ?? '{}'), ...parseObject(authorBase ?? '{}') };
  const other = await findOtherRecord(db, kind, past, { id, base, remote });
  if (other !== null || entry.settlement.goneSince === undefined) return other;
  // It was absent for a while: another natural key alone proves that it is another record.
  const keys = findKeyDifferences(kind, base, remote, (await updatesOf(db, kind.name, id)).map(payloadOf));
  return keys.length > 0 ? keys : null;
}
