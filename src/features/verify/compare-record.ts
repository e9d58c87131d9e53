import type { Kind } from '../../catalog/kind.ts';
import { ownValue, createRecordDecoder } from '../../diff/decode-record.ts';
import { listChangedFields, type IncomingRecord } from '../../diff/compare-page.ts';
import { compactJson, isObject, tryParseJson, type JsonObject } from '../../lib/json/json.ts';
import type { Row, SqlValue } from '../../db/session/session.ts';
import { filledColumns, rowWriter, type Dialect } from '../../store/tables/kind-table.ts';

/** A place where the mirror differs from the service; values in full, `null` = none. */
export interface Difference {
  /** A column, `_raw` and `_deleted_at` included, or a nested table. */
  readonly field: string;
  readonly service: string | null;
  readonly mirror: string | null;
}

/**
 * Creates the comparison of a kind's records with their rows: `_raw` with the record, the columns with its decoding. It returns the
 * content that the row's columns and elements must be decoded from, too; null where there is no live row.
 * @param kind As mirrored: discovered fields have columns too.
 * @param unfilled Columns that some rows lack still.
 */
export function recordComparer(kind: Kind, dialect: Dialect, unfilled: ReadonlySet<string> = new Set()) {
  const decode = createRecordDecoder(kind);
  const columns = filledColumns(kind, dialect);
  const writeRow = rowWriter(kind, dialect);
  return (incoming: IncomingRecord, row: Row | undefined) => {
    const missing = { field: 'id', service: incoming.id, mirror: null };
    if (row === undefined) return { differences: [missing], content: null };
    const deleted = { field: '_deleted_at', service: null, mirror: valueText(row['_deleted_at']) };
    // The last content of a deleted row is not a claim about the present.
    if (deleted.mirror !== null) return { differences: [deleted], content: null };
    const { content, ...raw } = compareRaw(kind, incoming, String(row['_raw']));
    const expected = writeRow(decode(content).values);
    const compared: Difference[] = columns.flatMap((field, at) =>
      unfilled.has(field) ? [] : [{ field, service: valueText(expected[at]), mirror: valueText(row[field]) }],
    );
    compared.push({ field: '_raw', ...raw });
    return { differences: compared.filter(({ service, mirror }) => service !== mirror), content };
  };
}

/**
 * Another spelling of the same value is not a difference. Columns are filled from the spelling in `_raw`, so the content of the
 * comparison is the record with the spellings of `_raw`. Of both sides only the members that differ are shown: equal ones would hide
 * them.
 */
function compareRaw(kind: Kind, { record, raw }: IncomingRecord, stored: string) {
  if (stored === raw) return { content: record, service: raw, mirror: raw };
  const held = tryParseJson(stored);
  if (!isObject(held)) return { content: record, service: raw, mirror: stored };
  const changed = listChangedFields(kind, held, record);
  const shown = (side: JsonObject): string => {
    const own = changed.filter((name) => Object.hasOwn(side, name));
    return compactJson(members(side, own));
  };
  const content = { ...held, ...members(record, changed) };
  return { content, service: shown(record), mirror: shown(held) };
}

const members = (record: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, ownValue(record, name) ?? null]));

/** A value as text: a database may give a number back as text, or a text as a number. */
export const valueText = (value: SqlValue | undefined): string | null =>
  value === null || value === undefined ? null : String(value);
