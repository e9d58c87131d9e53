import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { shownValue, withBlanks } from '../../diff/shown-value.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { readTexts } from '../../db/rows/rows.ts';
import type { Queryable } from '../../db/session/session.ts';
import { readFields, readListView, readMirroredKind } from '../../store/kinds/field-store.ts';
import type { OutboundParts } from '../parts.ts';
import { readByPath, readInList } from './read-remote.ts';

/**
 * Completes a record by fields that it does not show: they are blank if its view shows them in other records, else its list may show
 * them. A field that the service has never shown stays out.
 * @returns `hidden` names the fields that no view of the service shows any more.
 * @throws {SourceError} If no answer settles the question.
 */
export async function completeRecord(
  parts: OutboundParts,
  kind: Kind,
  seen: { readonly id: string; readonly record: JsonObject; readonly names: readonly string[] },
) {
  const { session } = parts;
  if (seen.names.length === 0) return { record: seen.record, hidden: [] as readonly string[] };
  const known = await readFields(session, kind.name, kind.excluded);
  let { record } = seen;
  let hidden = seen.names.filter((name) => known.has(name));
  if (hidden.length === 0) return { record, hidden };
  const controls = new Map<string, readonly string[]>();
  const { fields } = await readMirroredKind(session, kind);
  const columns = new Set(fields.map((field) => field.name));
  for (const name of hidden)
    controls.set(name, columns.has(name) ? await readFilled(session, kind, seen.id, name) : []);
  for (const read of [readByPath, readInList]) {
    if (hidden.length === 0) break;
    const shown = new Set<string>();
    for (const id of new Set([seen.id, ...hidden.flatMap((name) => controls.get(name) ?? [])])) {
      const one = (await read(parts, kind, id)) ?? {};
      for (const name of Object.keys(one)) shown.add(name);
      if (id === seen.id) record = { ...pick(one, hidden), ...record };
    }
    record = withBlanks(kind, record, hidden, shown);
    hidden = hidden.filter((name) => shownValue(kind, record, name) === undefined);
  }
  // The record may be the only one that had a value.
  const alone = hidden.filter((name) => controls.get(name)?.length === 0);
  record = withBlanks(kind, record, alone, await readListView(session, kind.name));
  return { record, hidden: hidden.filter((name) => shownValue(kind, record, name) === undefined) };
}

const pick = (record: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)));

/** Others may have been changed, or deleted, since the mirror read them. */
const CONTROLS = 3;

/** Other live records that have a value in a column, as far as the mirror knows. */
async function readFilled(db: Queryable, kind: Kind, id: string, name: string): Promise<readonly string[]> {
  const isOther = sql`_deleted_at is null and _listed is not null and k.id <> ${id}`;
  return readTexts(
    db,
    sql`select cast(k.id as text) as id from ${sql.identifier(kind.name)} as k
      where ${sql.identifier(name)} is not null and ${isOther} order by k.id desc limit ${CONTROLS}`,
  );
}
