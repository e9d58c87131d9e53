import { LosslessNumber } from 'lossless-json';
import type { Kind, Field } from '../catalog/kind.ts';
import { roundFloatNoise } from '../lib/json/decimal.ts';
import {
  MAX_DEPTH,
  canonicalJson,
  compactJson,
  isArray,
  isNestedDeeper,
  isObject,
  isNumber,
  tryParseJson,
  type Json,
  type JsonObject,
} from '../lib/json/json.ts';
import { isStorable, truncate } from '../lib/text/text.ts';
import { ownValue, decodeIfFits } from './decode-record.ts';
import { itemField } from './normalize-spelling.ts';
import { isBlank, valueIn, type ShownFields } from './shown-value.ts';

/** A record with a usable id: the id, and the record as compact JSON with every number as received. */
export interface IncomingRecord {
  readonly id: string;
  readonly raw: string;
  readonly record: JsonObject;
  /** `raw` is the text that the service sent: it may have spaces and other spellings. See `compacted`. */
  readonly isAsSent?: true;
}

/** A record with its own compact JSON. */
export function compacted(incoming: IncomingRecord): IncomingRecord {
  if (incoming.isAsSent === undefined) return incoming;
  return { id: incoming.id, raw: compactJson(incoming.record), record: incoming.record };
}

/** A record that cannot become a row; `raw` is its text, shortened. */
interface Quarantined {
  readonly id: string | null;
  readonly code: IdFault | 'too_deep' | 'two_versions';
  readonly raw: string;
}

export interface SplitPage {
  readonly incoming: readonly IncomingRecord[];
  readonly quarantined: readonly Quarantined[];
}

/** The mirror's copy of a record: its text, the tick of its response, and whether it is deleted. */
export interface StoredRecord {
  readonly raw: string;
  readonly response: number;
  readonly isDeleted: boolean;
}

/** The change that a record means for the mirror; `changed` names the fields that differ. */
export type RecordChange =
  | { readonly is: 'created' | 'restored' | 'unchanged' }
  | { readonly is: 'changed'; readonly fields: readonly string[]; readonly before: JsonObject };

/**
 * Sorts a page into records that can become rows and records that cannot: one bad record never costs the page.
 * @param texts The records as they were sent: compact JSON is then written for those only that differ from their rows.
 */
export function splitPage(records: readonly Json[], texts: readonly string[] = []): SplitPage {
  const firsts = new Map<string, IncomingRecord>();
  const repeated = new Map<string, IncomingRecord[]>(); // Nearly always empty.
  const quarantined: Quarantined[] = [];
  for (const [at, record] of records.entries()) {
    const parsed = readRecord(record, texts[at]);
    const first = 'code' in parsed ? undefined : firsts.get(parsed.id);
    if ('code' in parsed) quarantined.push(parsed);
    else if (first === undefined) firsts.set(parsed.id, parsed);
    else {
      const versions = repeated.get(parsed.id) ?? [first];
      versions.push(parsed);
      repeated.set(parsed.id, versions);
    }
  }
  for (const [id, versions] of repeated) {
    // Equal but for the order of keys and the spelling of numbers.
    if (new Set(versions.map((version) => canonicalJson(version.record))).size === 1) continue;
    firsts.delete(id); // One response cannot show which of two contents is true.
    quarantined.push(...versions.map((version) => quarantine(id, 'two_versions', compacted(version).raw)));
  }
  return { incoming: [...firsts.values()], quarantined };
}

/** Compares a record with the mirror's copy; equal values are equal in any spelling. */
export function compareRecord(
  kind: Kind,
  stored: StoredRecord | undefined,
  incoming: IncomingRecord,
): RecordChange {
  if (stored === undefined) return { is: 'created' };
  if (stored.isDeleted) return { is: 'restored' };
  if (stored.raw === incoming.raw) return { is: 'unchanged' };
  const before = recordIn(stored.raw);
  if (before === null) return { is: 'changed', fields: [], before: {} }; // Damaged: it is written again, without an event.
  const fields = listChangedFields(kind, before, incoming.record);
  // The row was kept without fields that are allowed again: their first values, be they null, are no changes.
  const { allowedAgain = [] } = kind;
  const refilled = allowedAgain.filter(
    (name) => Object.hasOwn(incoming.record, name) && !Object.hasOwn(before, name),
  );
  if (fields.length === 0 && refilled.length === 0) return { is: 'unchanged' };
  return { is: 'changed', fields: fields.filter((name) => !refilled.includes(name)), before };
}

/** The record in a row's `_raw`; null where a failing disk has damaged it. */
function recordIn(raw: string): JsonObject | null {
  const value = tryParseJson(raw);
  return isObject(value) ? value : null;
}

/** True if the row was written by a response after `sent`: an older response must not overwrite it. */
export function isOutdated(stored: StoredRecord | undefined, sent: number): boolean {
  return stored !== undefined && sent < stored.response;
}

function readRecord(record: Json, text: string | undefined): IncomingRecord | Quarantined {
  const identity = recordId(record);
  if (isNestedDeeper(record, MAX_DEPTH))
    return quarantine('id' in identity ? identity.id : null, 'too_deep', '');
  if ('fault' in identity) return quarantine(identity.token, identity.fault, compactJson(record));
  const { id } = identity;
  if (text === undefined) return { id, raw: compactJson(record), record: record as JsonObject };
  return { id, raw: text, record: record as JsonObject, isAsSent: true };
}

const MAX_QUARANTINED_LENGTH = 2000;
const MAX_ID_LENGTH = 100;

function quarantine(id: string | null, code: Quarantined['code'], raw: string): Quarantined {
  const shownId = id !== null && isStorable(id) ? truncate(id, MAX_ID_LENGTH) : null;
  return { id: shownId, code, raw: truncate(raw, MAX_QUARANTINED_LENGTH) };
}

type IdFault = 'not_a_record' | 'no_id' | 'id_not_an_integer' | 'id_too_large';
type ParsedId = { readonly id: string } | { readonly fault: IdFault; readonly token: string | null };

const WHOLE = /^[1-9]\d*$/;
const LARGEST = 2n ** 63n - 1n;

/**
 * Reads the id that a record is known by: a whole number from 1 to 2^63−1, as number or as text. Nothing is normalized: `07`,
 * `7.0` and `1e2` might be other records than 7 and 100, so they are not ids.
 */
export function recordId(record: Json): ParsedId {
  if (!isObject(record)) return { fault: 'not_a_record', token: null };
  const value = Object.hasOwn(record, 'id') ? record['id'] : null;
  if (value === undefined || value === null || value === '') return { fault: 'no_id', token: null };
  const token = isNumber(value) || typeof value === 'string' ? String(value) : '';
  if (!WHOLE.test(token)) return { fault: 'id_not_an_integer', token };
  const fitsInt64 = token.length < 19 || (token.length === 19 && BigInt(token) <= LARGEST);
  return fitsInt64 ? { id: token } : { fault: 'id_too_large', token };
}

/** Whether a text is an id that a record may have. */
export const isRecordId = (text: string): boolean => !('fault' in recordId({ id: text }));

/**
 * A retrieved record in the shape of its list: the fields that the list shows, with the newer values. Lists and single retrievals
 * may each leave out fields; a field that one of them never sends was not cleared.
 */
export function toListShape(kind: Kind, received: IncomingRecord, storedRaw: string, list: ShownFields) {
  const { id, record } = received;
  const stored = recordIn(storedRaw);
  if (stored === null) return compacted(received);
  const isFilled = (name: string): boolean =>
    valueIn(kind, stored, name, list) === null && !isBlank(undefined, record[name]);
  const names = [...Object.keys(stored), ...Object.keys(record).filter(isFilled)];
  const values = names.map((name) => [name, (Object.hasOwn(record, name) ? record : stored)[name]]);
  const shaped = Object.fromEntries(values) as JsonObject;
  return { id, record: shaped, raw: compactJson(shaped) };
}

/** The change that a record's first list reading means for a row known by retrieval only: only fields that both know can differ. */
export function compareFirstListing(
  kind: Kind,
  storedRaw: string,
  incoming: IncomingRecord,
  list: ShownFields,
): RecordChange {
  const before = recordIn(storedRaw) ?? {};
  const fields = listChangedFields(kind, before, incoming.record);
  const known = fields.filter(
    (name) => Object.hasOwn(before, name) && valueIn(kind, incoming.record, name, list) !== undefined,
  );
  return { is: 'changed', fields: known, before };
}

/**
 * Leaves out the records that a person had removed for good (`forget --suppress`): they are not landed, not even as issues. The
 * list still shows them, so that sightings and certificates count them.
 */
export function withoutSuppressed(page: SplitPage, suppressed: ReadonlySet<string>): SplitPage {
  if (suppressed.size === 0) return page;
  const isIncluded = ({ id }: { readonly id: string | null }): boolean => id === null || !suppressed.has(id);
  return { incoming: page.incoming.filter(isIncluded), quarantined: page.quarantined.filter(isIncluded) };
}

export type Change = 'created' | 'updated' | 'deleted' | 'restored';

/** One thing that happened to a record, with its content before and after as compact JSON; null = it was not there. */
export interface ChangeEvent {
  readonly recordId: string;
  readonly change: Change;
  readonly before: string | null;
  readonly after: string | null;
  /** The fields that changed, `{name: [old, new]}` as compact JSON; `{}` for all but updates. */
  readonly fields: string;
  /** It happened no earlier than this; null = unknown. */
  readonly observedFrom: string | null;
}

/** Writes the changes of a record, field by field; a field that one side lacks is null there. */
export function fieldChanges(names: readonly string[], before: JsonObject, after: JsonObject): string {
  const members = names.map((name) => {
    const values = [ownValue(before, name) ?? null, ownValue(after, name) ?? null];
    return `${JSON.stringify(name)}:${compactJson(values)}`;
  });
  return `{${members.join(',')}}`; // No object is made of it: one of 100,000 members takes long.
}

/**
 * Names the fields in which two readings of a record differ, documented or not; spelling and key order do not count, nor
 * whether a field without a value is null or absent, nor what Unicode composes in another way, nor the noise of floats.
 */
export function listChangedFields(kind: Kind, before: JsonObject, after: JsonObject): readonly string[] {
  const names = [
    ...Object.keys(before),
    ...Object.keys(after).filter((name) => !Object.hasOwn(before, name)),
  ];
  const sent = [...kind.hints, ...kind.fields].filter((field) => field.textOf === undefined);
  const fields = new Map(sent.map((field) => [field.name, field])); // A documented field comes before its hint.
  return names.filter((name) => {
    const old = ownValue(before, name);
    const current = ownValue(after, name);
    if ((old ?? null) === (current ?? null)) return false;
    const field = fields.get(name);
    if (canonicalValue(field, old) === canonicalValue(field, current)) return false;
    return (
      canonicalValue(field, normalizeValue(field, old)) !==
      canonicalValue(field, normalizeValue(field, current))
    );
  });
}

/** Normalises a value for comparison: text to NFC, numbers and amounts without float noise, nested values as their types write them. */
function normalizeValue(field: Field | undefined, value: Json | undefined): Json | undefined {
  if (isArray(value)) return value.map((item) => normalizeValue(field, item) ?? null);
  if (isObject(value)) {
    const members = Object.entries(value);
    return Object.fromEntries(
      members.map(([name, item]) => [name, normalizeMember(itemField(field, name), item)]),
    );
  }
  if (typeof value === 'string')
    return (field?.type === 'decimal' ? roundFloatNoise(value, field.scale) : null) ?? value.normalize('NFC');
  const rounded = isNumber(value) ? roundFloatNoise(String(value), field?.scale) : null;
  return rounded === null ? value : new LosslessNumber(rounded);
}

function normalizeMember(field: Field | undefined, item: Json): Json {
  const normalized = normalizeValue(field, item) ?? null;
  return field === undefined || isBlank(field, normalized) ? normalized : canonicalValue(field, normalized);
}

/** A text that is equal exactly for equal values: by the field's type, or as JSON where it has none or fits none. */
function canonicalValue(field: Field | undefined, value: Json | undefined): string {
  if (value === undefined) return 'absent';
  if (field === undefined) return canonicalJson(value);
  const decoded = decodeIfFits(field, value);
  if (decoded === undefined) return `misfit ${canonicalJson(value)}`;
  return decoded === null ? 'none' : `value ${decoded}`; // The text "null" is not null.
}
