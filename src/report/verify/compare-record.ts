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

interface RecordComparison {
  readonly differences: readonly Difference[];
  /** The content that the row's columns and elements must be decoded from. */
  readonly content: JsonObject;
}

/**
 * Creates the comparison of a kind's records with their rows: `_raw` with the record, the columns with its decoding.
 * @param kind As mirrored: discovered fields have columns too.
 * @param keepsSearch Whether the rows have their search texts.
 */
export function recordComparer(
  kind: Kind,
  dialect: Dialect,
  keepsSearch = true,
): (record: IncomingRecord, row: Row) => RecordComparison {
  const decode = createRecordDecoder(kind);
  const columns = filledColumns(kind, dialect, keepsSearch);
  const writeRow = rowWriter(kind, dialect, keepsSearch);
  return (incoming, row) => {
    const { differences, content } = compareRaw(kind, incoming, String(row['_raw']));
    const { values } = decode(content);
    const expected = writeRow(values);
    const altered = columns.flatMap((field, at) => {
      const service = valueText(expected[at]);
      const mirror = valueText(row[field]);
      return service === mirror ? [] : [{ field, service, mirror }];
    });
    return { differences: [...altered, ...differences], content };
  };
}

/**
 * Another spelling of the same value is not a difference. Columns are filled from the spelling in `_raw`, so the content of the
 * comparison is the record with the spellings of `_raw`.
 */
function compareRaw(kind: Kind, incoming: IncomingRecord, stored: string): RecordComparison {
  const { record, raw } = incoming;
  if (stored === raw) return { differences: [], content: record };
  const held = tryParseJson(stored);
  if (!isObject(held))
    return { differences: [{ field: '_raw', service: raw, mirror: stored }], content: record };
  const changed = listChangedFields(kind, held, record);
  if (changed.length === 0) return { differences: [], content: held };
  const service = pickMembers(record, changed);
  const mirror = pickMembers(held, changed);
  return {
    differences: [{ field: '_raw', service, mirror }],
    content: { ...held, ...members(record, changed) },
  };
}

/** The record with these members only, so that equal members do not hide the others. */
function pickMembers(record: JsonObject, names: readonly string[]): string {
  const present = names.filter((name) => Object.hasOwn(record, name));
  return compactJson(members(record, present));
}

const members = (record: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, ownValue(record, name) ?? null]));

/** A value as text: a database may give a number back as text, or a text as a number. */
export const valueText = (value: SqlValue | undefined): string | null =>
  value === null || value === undefined ? null : String(value);
