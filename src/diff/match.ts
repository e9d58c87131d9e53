import { sentField } from '../catalog/kind.ts';
import type { Kind } from '../catalog/kind.ts';
import { canonicalJson } from '../lib/json/json.ts';
import type { Json, JsonObject } from '../lib/json/json.ts';
import { ownValue } from './decode-record.ts';
import { couldHold, isLooselyWithin } from './look-alike.ts';
import { isBlank, keyForm, holdsWritten, readNameOf, shownValue } from './written.ts';
import type { SentAndShown } from './written.ts';

/** `exact`: ours by every visible field. `look-alike`: could be ours, as altered by the service. */
export type Match = 'exact' | 'look-alike' | 'none';

/** A text of our own that a create left in a field; `field` is its name of a read. */
export interface Marker {
  readonly field: string;
  readonly text: string;
}

interface Claim {
  readonly kind: Kind;
  /** The sent payload, by the names of a write. */
  readonly payload: JsonObject;
  readonly marker: Marker | null;
}

interface MatchInput extends Claim {
  readonly record: JsonObject;
}

interface SearchInput extends Claim {
  readonly candidates: readonly { readonly id: string; readonly record: JsonObject }[];
}

/** The result of searching the service for a create with an unknown outcome. */
export type SearchResult =
  | { readonly is: 'found'; readonly id: string }
  | { readonly is: 'twins' | 'look-alike'; readonly ids: readonly string[] }
  | { readonly is: 'absent' };

/** A text that is equal for payloads that a person would call the same, in any spelling of their values. */
export function naturalKeyOf(kind: Kind, payload: JsonObject): string {
  const { keyed, telling } = sentFields({ kind, payload, record: {} });
  const parts = (keyed.length > 0 ? keyed : telling).map(({ name, sent }) =>
    canonicalJson([name, keyForm(sentField(kind, name), sent)]),
  );
  return `[${parts.sort().join(',')}]`;
}

/** Judges whether a record is the one that a payload created. */
export function matchRecord({ kind, payload, record, marker }: MatchInput): Match {
  const sent = sentFields({ kind, payload, record });
  const mark = marker !== null && marker.text !== '' ? marker : null;
  const marked = mark ? markOf(record, mark) : 'none';
  if (marked !== 'none') return marked;
  const isEqual = sent.telling.length > 0 && sent.all.every((field) => holdsWritten(kind, field.name, field));
  if (isEqual && !mark) return 'exact'; // With a marker, an equal record without it was created by another program.
  return couldBeOurs(kind, sent) ? 'look-alike' : 'none';
}

/** Judges all records that a payload may have created; a record is found only if no other is in doubt. */
export function judgeSearch({ candidates, ...claim }: SearchInput): SearchResult {
  const judged = candidates.map(({ id, record }) => ({ id, match: matchRecord({ ...claim, record }) }));
  const idsOf = (...matches: readonly Match[]) => [
    ...new Set(judged.filter(({ match }) => matches.includes(match)).map(({ id }) => id)),
  ];
  const [first, ...more] = idsOf('exact');
  const alike = idsOf('exact', 'look-alike');
  if (first !== undefined && more.length > 0) return { is: 'twins', ids: [first, ...more] };
  const isMarked = claim.marker !== null && claim.marker.text !== '';
  if (first !== undefined && (isMarked || alike.length === 1)) return { is: 'found', id: first };
  return alike.length > 0 ? { is: 'look-alike', ids: alike } : { is: 'absent' };
}

interface SentField extends SentAndShown {
  readonly name: string;
}

interface SentFields {
  readonly all: readonly SentField[];
  /** The fields with content: a blank value would match too many records. */
  readonly telling: readonly SentField[];
  /** Those of the natural key among them. */
  readonly keyed: readonly SentField[];
}

function sentFields({ kind, payload, record }: Omit<MatchInput, 'marker'>): SentFields {
  const all = Object.entries(payload).map(([writeName, sent]) => {
    const name = readNameOf(kind, writeName);
    return { name, sent, remote: shownValue(kind, record, name) };
  });
  const telling = all.filter(({ name, sent }) => !isBlank(sentField(kind, name), sent));
  const { naturalKey } = kind;
  const keyed =
    naturalKey === 'all sent fields' ? telling : telling.filter(({ name }) => naturalKey.includes(name));
  return { all, telling, keyed };
}

function markOf(record: JsonObject, { field, text }: Marker): Match {
  const value: Json | undefined = ownValue(record, field);
  if (typeof value !== 'string') return 'none';
  if (value.includes(text)) return 'exact';
  return isLooselyWithin(text, value) ? 'look-alike' : 'none';
}

/**
 * Whether no field contradicts the match: the natural key's fields, or all fields if the record shows no field of that
 * key.
 *
 * A field that a list does not show contradicts nothing. A record that shows none of the sent fields stays in doubt.
 */
function couldBeOurs(kind: Kind, { keyed, telling }: SentFields): boolean {
  const shown = [keyed, telling].map((fields) => fields.filter(({ remote }) => remote !== undefined));
  const judged = shown.find((fields) => fields.length > 0) ?? [];
  return judged.every((field) => couldHold(sentField(kind, field.name), field));
}
