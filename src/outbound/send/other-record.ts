import type { Field, Kind } from '../../catalog/kind.ts';
import {
  findIdentityDifferences,
  findKeyDifferences,
  nestedIdsInBoth,
  type IdentityDifference,
} from '../../diff/identity-differences.ts';
import { parseObject, type JsonObject } from '../../lib/json/json.ts';
import { hasFirstBase, updatesOf, type Entry } from '../../store/outbox/outbox-store.ts';
import { readPasts, type RecordPast } from '../../store/records/change-store.ts';
import { findRecord, hasRows, isShownByOther } from '../../store/records/record-store.ts';
import { nestedName } from '../../store/tables/kind-table.ts';
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
  const isReplaced = past?.isReplaced === true;
  const isKeyOf = (payloads: readonly JsonObject[]): boolean =>
    findKeyDifferences(kind, base, remote, payloads).length === 0;
  if (isKeyOf([])) return isReplaced ? [] : null; // Our own updates are not read where nothing differs: a plan asks for each row.
  const ourPayloads = isReplaced ? [] : (await updatesOf(db, kind.name, id)).map(payloadOf);
  if (isKeyOf(ourPayloads)) return isReplaced ? [] : null;
  const rare = await readRareFields(db, kind, { id, base, remote });
  const signs = findIdentityDifferences(kind, { base, remote, ourPayloads, rare });
  return isReplaced || signs.length > 0 ? signs : null;
}

/** Shorter texts, and those of fewer records, occur in another one by chance. */
const MIN_CHARACTERS = 4;
const MIN_ROWS = 20;

/** The fields whose text, or a nested row that stays, no other record of the kind shows, live or deleted; a witness may be short. */
async function readRareFields(
  db: Queryable,
  kind: Kind,
  { id, base, remote }: { readonly id: string; readonly base: JsonObject; readonly remote: JsonObject },
) {
  const rare = new Set<string>();
  const isLarge = await hasRows(db, kind.name, MIN_ROWS);
  const isText = ({ type, refersTo, textOf }: Field): boolean =>
    type === 'text' && (refersTo ?? textOf) === undefined;
  const least = (name: string): number =>
    kind.witnesses?.includes(name) === true ? 0 : isLarge ? MIN_CHARACTERS : Infinity;
  for (const { name } of kind.fields.filter(isText)) {
    const text = base[name];
    const isTelling = typeof text === 'string' && text.replace(/\s/g, '').length >= least(name);
    if (isTelling && !(await isShownByOther(db, kind.name, { id, column: name, text }))) rare.add(name);
  }
  for (const name of kind.witnesses ?? []) {
    const elements = { id, owner: 'parent_id', column: 'id' };
    for (const text of nestedIdsInBoth(base[name] ?? null, remote[name] ?? null))
      if (!(await isShownByOther(db, nestedName(kind.name, name), { ...elements, text }))) rare.add(name);
  }
  return rare;
}

/**
 * The same for the record of an update, by what its author and the mirror knew of it when the update was stored. Where a person has
 * decided that it is the same record, only a later deletion counts.
 */
export async function findOtherTarget(db: Queryable, kind: Kind, entry: Entry, remote: JsonObject) {
  const { recordId, createdAt } = entry;
  const { sameSince, goneSince } = entry.settlement;
  const id = recordId ?? '';
  const past = (await readPasts(db, kind.name, [id], sameSince ?? createdAt)).get(id);
  if (sameSince !== undefined) return past?.isReplaced ? [] : null;
  const base = await readFirstBase(db, kind, entry, past);
  const other = await findOtherRecord(db, kind, past, { id, base, remote });
  if (other !== null || goneSince === undefined) return other;
  // It was absent for a while: another natural key alone proves that it is another record.
  const keys = findKeyDifferences(kind, base, remote, (await updatesOf(db, kind.name, id)).map(payloadOf));
  return keys.length > 0 ? keys : null;
}

/** What the mirror knew of a record, and the author of its update. */
async function readFirstBase(db: Queryable, kind: Kind, entry: Entry, past: RecordPast | undefined) {
  const mirrored =
    past === undefined ? (await findRecord(db, kind.name, entry.recordId ?? ''))?.raw : past.before;
  const authorBase = hasFirstBase(entry) ? entry.base : null;
  return { ...parseObject(mirrored ?? '{}'), ...parseObject(authorBase ?? '{}') };
}
