import { isExcludedName } from '../../catalog/exclude.ts';
import type { Field, Kind } from '../../catalog/kind.ts';
import { readNameOf, writeNameOf } from '../../diff/written.ts';
import { DEEPEST, canonicalJson, isDeeper } from '../../lib/json/json.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { nearestName } from '../../lib/text/nearest-name.ts';
import { isStorable } from '../../lib/text/text.ts';
import { shown, writtenValue } from './write-value.ts';
import type { WrittenValue } from './write-value.ts';

/** The body of a write, with all faults and warnings. */
interface WriteBody {
  /** By the names of a write; only fields without a fault. */
  readonly body: JsonObject;
  readonly faults: readonly string[];
  readonly notes: readonly string[];
}

interface Member {
  readonly name: string;
  readonly writeName: string;
  readonly written: WrittenValue;
}

/** Turns fields as a caller names and spells them into the body of a write. */
export function writeBody(kind: Kind, data: JsonObject, rules: NameRules): WriteBody {
  const members = Object.entries(data).map((member) => memberOf(kind, member, rules));
  const entries: [string, Json][] = [];
  const faults: string[] = [];
  const notes: string[] = [];
  for (const { name, writeName, written } of members) {
    if ('fault' in written) faults.push(`${name}: ${written.fault}`);
    else {
      entries.push([writeName, written.value]);
      if (written.note !== undefined) notes.push(`${name} ${written.note}`);
    }
  }
  return {
    body: Object.fromEntries(entries),
    faults: [...faults, ...contradictions(entries, (name) => spellings(members, name))],
    notes,
  };
}

function memberOf(kind: Kind, [name, value]: readonly [string, Json], rules: NameRules): Member {
  const documented = fieldIn(kind.fields, name);
  const field = documented ?? fieldIn(kind.hints, name);
  const writeName = field === undefined ? name : writeNameOf(field);
  const fault = faultOf(name, value) ?? (isExcludedName(kind, name) ? EXCLUDED : null);
  if (fault !== null) return { name, writeName, written: { fault } };
  if (field === undefined) return { name, writeName, written: unlisted(kind, [name, value], rules) };
  const written = writtenValue(field, value);
  return { name, writeName, written: documented === undefined ? asHinted(written, value) : written };
}

/** The outbox would keep it, and no answer of the service could confirm it. */
const EXCLUDED = 'privacy.exclude keeps this field out of the mirror, so it cannot be pushed';

/** If a name means one field in a write and another in a read, the write counts. */
function fieldIn(fields: readonly Field[], name: string): Field | undefined {
  return fields.find((field) => writeNameOf(field) === name) ?? fields.find((field) => field.name === name);
}

function faultOf(name: string, value: Json): string | null {
  if (name === 'id') return 'the number of a record cannot be written';
  if (name === '' || !isStorable(name)) return 'this cannot be the name of a field';
  return isDeeper(value, DEEPEST) ? `nested deeper than ${DEEPEST} levels` : null;
}

/** A field of neither the documentation nor the hints. */
function unlisted(kind: Kind, [name, value]: readonly [string, Json], rules: NameRules): WrittenValue {
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
function contradictions(
  entries: readonly (readonly [string, Json])[],
  spellingsOf: (name: string) => readonly string[],
): string[] {
  const first = new Map<string, Json>();
  const faults: string[] = [];
  for (const [name, value] of entries) {
    const other = first.get(name);
    if (other === undefined) first.set(name, value);
    else if (canonicalJson(other) !== canonicalJson(value))
      faults.push(
        `${spellingsOf(name).join(' and ')} are one field and have two values: ${shown(other)} and ${shown(value)}`,
      );
  }
  return faults;
}

const spellings = (members: readonly Member[], writeName: string): string[] =>
  members.filter((member) => member.writeName === writeName).map(({ name }) => name);

/** The state that the caller saw before, by the names of a read; or its faults. */
export function readBase(
  kind: Kind,
  base: JsonObject,
): { readonly base: JsonObject; readonly faults: readonly string[] } {
  const members = Object.keys(base).map((name) => ({ name, readName: readNameOf(kind, name) }));
  const entries = Object.entries(base).map(([name, value]) => [readNameOf(kind, name), value] as const);
  const spelled = (readName: string): string[] =>
    members.filter((member) => member.readName === readName).map(({ name }) => name);
  return {
    base: Object.fromEntries(entries),
    faults: [
      ...contradictions(entries, spelled),
      ...entries.filter(([name]) => isExcludedName(kind, name)).map(([name]) => `${name}: ${EXCLUDED}`),
    ].map((fault) => `base: ${fault}`),
  };
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
function unknownField({ name: kind, fields, hints }: Kind, name: string, seen: NameRules['seen']): string {
  const guess = nearestName(name, [...[...fields, ...hints].flatMap(spellingsOf), ...seen].filter(isWritten));
  const unseen = seen.size > 0 ? 'nor was ever seen' : 'nor was seen: the mirror has not read this kind yet';
  const meant = guess === undefined ? '' : `; did you mean ${guess}?`;
  return `${kind} has no such field: it is neither documented ${unseen}${meant} ${ALLOWED}`;
}

const spellingsOf = (field: Field): readonly string[] => [writeNameOf(field), field.name];

const isWritten = (name: string): boolean => name !== 'id';
