import { isExcludedName } from '../../catalog/exclude.ts';
import type { Field, Kind } from '../../catalog/kind.ts';
import { readNameOf, writeNameOf } from '../../diff/written.ts';
import { DEEPEST, canonicalJson, isDeeper, type Json, type JsonObject } from '../../lib/json/json.ts';
import { nearestName } from '../../lib/text/nearest-name.ts';
import { isStorable } from '../../lib/text/text.ts';
import { shown, writtenValue, type WrittenValue } from './write-value.ts';

/**
 * Turns fields as a caller names and spells them into the body of a write, with all faults and warnings. The body is by the names
 * of a write, and has only fields without a fault.
 */
export function writeBody(kind: Kind, data: JsonObject, rules: NameRules) {
  const given: Given[] = [];
  const faults: string[] = [];
  const notes: string[] = [];
  for (const [name, value] of Object.entries(data)) {
    const documented = fieldIn(kind.fields, name);
    const field = documented ?? fieldIn(kind.hints, name);
    const fault = faultOf(kind, name, value);
    let written: WrittenValue;
    if (fault !== null) written = { fault };
    else if (field === undefined) written = unlisted(kind, name, value, rules);
    else written = documented ? writtenValue(field, value) : asHinted(writtenValue(field, value), value);
    if ('fault' in written) faults.push(`${name}: ${written.fault}`);
    else {
      given.push({ name, field: field === undefined ? name : writeNameOf(field), value: written.value });
      if (written.note !== undefined) notes.push(`${name} ${written.note}`);
    }
  }
  return { body: bodyOf(given), faults: [...faults, ...contradictions(given)], notes };
}

/** A value as the caller named it, and the name of its field. */
interface Given {
  readonly name: string;
  readonly field: string;
  readonly value: Json;
}

const bodyOf = (given: readonly Given[]): JsonObject =>
  Object.fromEntries(given.map(({ field, value }) => [field, value]));

/** The outbox would keep it, and no answer of the service could confirm it. */
const EXCLUDED = 'privacy.exclude keeps this field out of the mirror, so it cannot be pushed';

/** If a name means one field in a write and another in a read, the write counts. */
function fieldIn(fields: readonly Field[], name: string): Field | undefined {
  return fields.find((field) => writeNameOf(field) === name) ?? fields.find((field) => field.name === name);
}

function faultOf(kind: Kind, name: string, value: Json): string | null {
  if (name === 'id') return 'the number of a record cannot be written';
  if (name === '' || !isStorable(name)) return 'this cannot be the name of a field';
  if (isDeeper(value, DEEPEST)) return `nested deeper than ${DEEPEST} levels`;
  return isExcludedName(kind, name) ? EXCLUDED : null;
}

/** A field of neither the documentation nor the hints. */
function unlisted(kind: Kind, name: string, value: Json, rules: NameRules): WrittenValue {
  const written = undocumented(value);
  if ('fault' in written || rules.seen.has(name)) return written;
  if (!rules.allowsUnknown) return { fault: unknownField(kind, name, rules.seen) };
  return { value, note: 'is neither documented nor ever seen: it is sent as it is' };
}

function undocumented(value: Json): WrittenValue {
  const written = value === null ? { value } : writtenValue({ name: '', type: 'json' }, value);
  return 'fault' in written ? written : { value, note: 'is undocumented: it is sent as it is' };
}

/** A hint is an observation, not a promise of the service: it refuses no value. */
function asHinted(written: WrittenValue, value: Json): WrittenValue {
  const plain = undocumented(value);
  if ('fault' in plain || 'value' in written) return 'fault' in plain ? plain : written;
  return { value, note: `is sent as it is, though by what was seen of it: ${written.fault}` };
}

/** Fields that were given twice, by both of their names. */
function contradictions(given: readonly Given[]): string[] {
  const first = new Map<string, Json>();
  return given.flatMap(({ field, value }) => {
    const other = first.get(field);
    if (other === undefined) first.set(field, value);
    if (other === undefined || canonicalJson(other) === canonicalJson(value)) return [];
    const names = given.filter((each) => each.field === field).map(({ name }) => name);
    return [`${names.join(' and ')} are one field and have two values: ${shown(other)} and ${shown(value)}`];
  });
}

/** The state that the caller saw before, by the names of a read; or its faults. */
export function readBase(
  kind: Kind,
  base: JsonObject,
): { readonly base: JsonObject; readonly faults: readonly string[] } {
  const given = Object.entries(base).map(([name, value]) => ({ name, field: readNameOf(kind, name), value }));
  const excluded = given.filter(({ field }) => isExcludedName(kind, field));
  const faults = [...contradictions(given), ...excluded.map(({ field }) => `${field}: ${EXCLUDED}`)];
  return { base: bodyOf(given), faults: faults.map((fault) => `base: ${fault}`) };
}

/** Which fields a write may name. */
export interface NameRules {
  /** Names of fields that the service has ever sent of this kind. */
  readonly seen: ReadonlySet<string>;
  /** Other names are sent, too. */
  readonly allowsUnknown: boolean;
}

const ALLOWED = '(To send it all the same: --allow-unknown, or allowUnknown: true.)';

/** Why a field is refused that is neither documented nor was ever seen, with the name that may be meant. */
function unknownField(options: Kind, name: string, seen: NameRules['seen']): string {
  const spellings = [...options.fields, ...options.hints].flatMap((field) => [
    writeNameOf(field),
    field.name,
  ]);
  const guess = nearestName(
    name,
    [...spellings, ...seen].filter((each) => each !== 'id'),
  );
  const unseen = seen.size > 0 ? 'nor was ever seen' : 'nor was seen: the mirror has not read this kind yet';
  const meant = guess === undefined ? '' : `; did you mean ${guess}?`;
  return `${options.name} has no such field: it is neither documented ${unseen}${meant} ${ALLOWED}`;
}
