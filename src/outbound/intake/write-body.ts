import { isExcludedName } from '../../catalog/exclude.ts';
import { listsFields } from '../../catalog/find-kind.ts';
import type { Field, Kind } from '../../catalog/kind.ts';
import { readNameOf } from '../../diff/merge-update.ts';
import { writeNameOf } from '../../diff/shown-value.ts';
import { MAX_DEPTH, canonicalJson, isNestedDeeper, type Json, type JsonObject } from '../../lib/json/json.ts';
import { didYouMean } from '../../lib/text/nearest-name.ts';
import { isStorable } from '../../lib/text/text.ts';
import { valueForMessage, writtenValue, type WrittenValue } from './write-value.ts';

/**
 * Turns fields as a caller names and spells them into the body of a write, with all faults and warnings. The body has the names
 * of a write, and only fields without a fault.
 */
export function writeBody(kind: Kind, data: JsonObject, rules: NameRules) {
  const namedValues: NamedValue[] = [];
  const faults: string[] = [];
  const notes: string[] = [];
  for (const [name, value] of Object.entries(data)) {
    const documented = fieldIn(kind.fields, name);
    const field = documented ?? fieldIn(kind.hints, name);
    const fault = nameFault(kind, name, value);
    let written: WrittenValue;
    if (fault !== null) written = { fault };
    else if (field === undefined) written = unlistedValue(kind, name, value, rules);
    else written = documented ? writtenValue(field, value) : withHint(writtenValue(field, value), value);
    if ('fault' in written) faults.push(`${name}: ${written.fault}`);
    else {
      namedValues.push({ name, field: field ? writeNameOf(field) : name, value: written.value });
      if (written.note !== undefined) notes.push(`${name} ${written.note}`);
    }
  }
  return { body: bodyOf(namedValues), faults: [...faults, ...findContradictions(namedValues)], notes };
}

/** A value as the caller named it, and the name of its field. */
interface NamedValue {
  readonly name: string;
  readonly field: string;
  readonly value: Json;
}

const bodyOf = (namedValues: readonly NamedValue[]): JsonObject =>
  Object.fromEntries(namedValues.map((namedValue) => [namedValue.field, namedValue.value]));

/** The outbox would keep it, and no answer of the service could confirm it. */
const EXCLUDED = 'privacy.exclude excludes this field, so it cannot be pushed';

/** If a name means one field in a write and another in a read, the write counts. */
function fieldIn(fields: readonly Field[], name: string): Field | undefined {
  return fields.find((field) => writeNameOf(field) === name) ?? fields.find((field) => field.name === name);
}

function nameFault(kind: Kind, name: string, value: Json): string | null {
  if (name === 'id') return 'the number of a record cannot be written';
  if (name === '' || !isStorable(name)) return 'this cannot be the name of a field';
  if (isNestedDeeper(value, MAX_DEPTH)) return `nested deeper than ${MAX_DEPTH} levels`;
  return isExcludedName(kind, name) ? EXCLUDED : null;
}

/** A field of neither the documentation nor the hints. */
function unlistedValue(kind: Kind, name: string, value: Json, rules: NameRules): WrittenValue {
  const written = undocumentedValue(value);
  if ('fault' in written || rules.seen.has(name)) return written;
  if (!rules.allowsUnknown) return { fault: unknownField(kind, name, rules.seen) };
  return { value, note: 'is unknown: it is sent unchanged' };
}

function undocumentedValue(value: Json): WrittenValue {
  const written = value === null ? { value } : writtenValue({ name: '', type: 'json' }, value);
  return 'fault' in written ? written : { value, note: 'is undocumented: it is sent unchanged' };
}

/** A hint is an observation, not a promise of the service: it refuses no value. */
function withHint(written: WrittenValue, value: Json): WrittenValue {
  const plain = undocumentedValue(value);
  if ('fault' in plain || 'value' in written) return 'fault' in plain ? plain : written;
  return { value, note: `is sent as it is, though by what was seen of it: ${written.fault}` };
}

/** Fields that were given twice, by both of their names. */
function findContradictions(namedValues: readonly NamedValue[]): string[] {
  const first = new Map<string, Json>();
  return namedValues.flatMap((namedValue) => {
    const { field, value } = namedValue;
    const firstValue = first.get(field);
    if (firstValue === undefined) first.set(field, value);
    if (firstValue === undefined || canonicalJson(firstValue) === canonicalJson(value)) return [];
    const names = namedValues.filter((other) => other.field === field).map((other) => other.name);
    return [
      `${names.join(' and ')} are one field and have two values: ${valueForMessage(firstValue)} and ${valueForMessage(value)}`,
    ];
  });
}

/** The state that the caller saw before, by the names of a read; or its faults. */
export function readBase(
  kind: Kind,
  base: JsonObject,
): { readonly base: JsonObject; readonly faults: readonly string[] } {
  const namedValues = Object.entries(base).map(([name, value]) => ({
    name,
    field: readNameOf(kind, name),
    value,
  }));
  const excluded = namedValues.filter((namedValue) => isExcludedName(kind, namedValue.field));
  const faults = [
    ...findContradictions(namedValues),
    ...excluded.map((value) => `${value.field}: ${EXCLUDED}`),
  ];
  return { base: bodyOf(namedValues), faults: faults.map((fault) => `base: ${fault}`) };
}

/** Which fields a write may name. */
export interface NameRules {
  /** Names of fields that the service has ever sent of this kind. */
  readonly seen: ReadonlySet<string>;
  /** Other names are sent, too. */
  readonly allowsUnknown: boolean;
}

const ALLOWED = '(To send it anyway: --allow-unknown, or allowUnknown: true.)';

/** Why an unknown field is refused, with the nearest known name. */
function unknownField(kind: Kind, name: string, seen: NameRules['seen']): string {
  const spellings = [...kind.fields, ...kind.hints].flatMap((field) => [writeNameOf(field), field.name]);
  const names = [...spellings, ...seen].filter((spelling) => spelling !== 'id');
  const unseen = seen.size > 0 ? 'nor was ever seen' : 'nor was seen: the mirror has not read this kind yet';
  return `${kind.name} has no such field: it is neither documented ${unseen}${didYouMean(name, names)} ${ALLOWED} ${listsFields(kind.name)}`;
}
