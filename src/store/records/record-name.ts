import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { readInChunks, readRows } from '../../db/rows/rows.ts';
import type { Queryable } from '../../db/session/session.ts';
import { isRecordId } from '../../diff/compare-page.ts';
import { compactJson, isObject, tryParseJson, type JsonObject } from '../../lib/json/json.ts';

/** The fields that identify a record to people, in this order. */
const NAMES = ['code', 'nom', 'name', 'name_fr', 'label', 'title', 'product_name', 'pickup_date', 'date'];
const NAMES_SHOWN = 2;

/** A few identifying values of a record, from its JSON text. */
export function recordName(text: string | null): string {
  const record = parseObjectText(text);
  const found = NAMES.map((name) => record[name] ?? null).filter((value) => value !== null && value !== '');
  const shown = found.slice(0, NAMES_SHOWN);
  return shown.map((value) => (typeof value === 'string' ? value : compactJson(value))).join(' · ');
}

export type NameOf = (kind: string, id: string | null) => string;

/** Reads the names of records of these kinds; any other record, and one that is not in the mirror, has an empty one. */
export async function readNames(
  db: Queryable,
  kinds: readonly Pick<Kind, 'name'>[],
  records: readonly { readonly kind: string; readonly recordId: string | null }[],
): Promise<NameOf> {
  const names = new Map<string, string>();
  for (const { name: kind } of kinds) {
    const ids = records.flatMap((record) => (record.kind === kind ? (record.recordId ?? []) : []));
    const rows = await readInChunks([...new Set(ids)].filter(isRecordId), (some) =>
      readRows(
        db,
        { id: String, raw: String },
        sql`select cast(id as text) as id, _raw as raw from ${sql.identifier(kind)} where id in (${some})`,
      ),
    );
    for (const { id, raw } of rows) names.set(`${kind} ${id}`, recordName(raw));
  }
  return (kind, id) => names.get(`${kind} ${id ?? ''}`) ?? '';
}

/** The members of a JSON text; none if it is not an object. */
export function parseObjectText(text: string | null): JsonObject {
  const value = text === null ? undefined : tryParseJson(text);
  return isObject(value) ? value : {};
}
