import type { Kind } from '../catalog/kind.ts';
import { compactJson, parseObject } from '../lib/json.ts';
import type { JsonObject } from '../lib/json.ts';
import { changedFields } from './compare.ts';
import type { Incoming, RecordChange } from './judge-page.ts';

/**
 * A retrieved record in the shape of its list: the list's fields, with the newer values.
 *
 * Lists and single retrievals may each leave out fields; a field that one of them never sends was not
 * cleared.
 */
export function inListShape({ id, record }: Incoming, storedRaw: string): Incoming {
  const stored = parseObject(storedRaw);
  const values = Object.keys(stored).map((name) => [
    name,
    (Object.hasOwn(record, name) ? record : stored)[name],
  ]);
  const shaped = Object.fromEntries(values) as JsonObject;
  return { id, record: shaped, raw: compactJson(shaped) };
}

/**
 * The change that a record's first list reading means for a row known by retrieval only: only fields in both can
 * differ.
 */
export function judgeFirstListing(kind: Kind, storedRaw: string, { record }: Incoming): RecordChange {
  const before = parseObject(storedRaw);
  const fields = changedFields(kind, before, record);
  const inBoth = fields.filter((name) => Object.hasOwn(before, name) && Object.hasOwn(record, name));
  return { is: 'changed', fields: inBoth, before };
}
