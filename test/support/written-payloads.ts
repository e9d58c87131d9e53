import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { expect } from 'vitest';
import { KINDS, documentedKind } from '../../src/catalog/kinds/catalog.ts';
import { findSentField, type Field, type Kind } from '../../src/catalog/kind.ts';
import { readNameOf } from '../../src/diff/merge-update.ts';
import { writeNameOf } from '../../src/diff/shown-value.ts';
import { padToScale } from '../../src/lib/json/decimal.ts';
import {
  compactJson,
  isArray,
  isNumber,
  isObject,
  type Json,
  type JsonObject,
} from '../../src/lib/json/json.ts';

export const namedKind = (name: string): Kind => documentedKind(name) ?? expect.fail(`no kind ${name}`);

/** The kinds that can be written; one of them has neither fields nor a natural key. */
export const WRITTEN_KINDS = KINDS.filter(({ create }) => create !== null);

const two = (number: number): string => String(number).padStart(2, '0');
const decimals = (scale: number) =>
  fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n }).map((units) => {
    const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
    return `${units < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  });
const texts = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...Array.from('abcXYZ019-_.#/')) },
      fc.constantFrom(...Array.from('éàçÉœßÅñ«»’'), ' ', '  ', '&', '<', '>', '"', "'", '&amp;', '🍁'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    ),
    { maxLength: 60 },
  )
  .map((parts) => `K${parts.join('')}`)
  // Capitals make a letter of the iota beneath a Greek one; without accents there is nothing left of it.
  .filter((text) => !text.normalize('NFD').includes('\u0345'));

const ids = fc
  .bigInt({ min: 0n, max: 2n ** 63n - 1n })
  .chain((id) => fc.constantFrom<Json>(String(id), new LosslessNumber(String(id))));
const minutes = fc.nat(1439).map((minute) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`);
const days = fc
  .tuple(fc.integer({ min: 1990, max: 2040 }), fc.integer({ min: 1, max: 28 }))
  .map(([year, day]) => `${year}-${two((day % 12) + 1)}-${two(day)}`);

const SUITING: Record<Field['type'], (field: Field) => fc.Arbitrary<Json>> = {
  integer: () => ids,
  flag: () => fc.constantFrom<Json>(0, 1, '0', '1', true, false),
  decimal: ({ scale = 2 }) =>
    decimals(scale).chain((text) => fc.constantFrom<Json>(text, new LosslessNumber(text))),
  date: () => days,
  time: () => minutes,
  timestamp: () => minutes.map((minute) => `2026-01-05 ${minute}:00`),
  json: () => fc.array(fc.record({ nom: texts, title: texts }), { minLength: 1, maxLength: 3 }),
  text: () => texts,
};

/** Values that suit a field, said as an application says them; never blank. */
export function suiting(field: Field | undefined): fc.Arbitrary<Json> {
  return field ? SUITING[field.type](field) : fc.oneof(texts, decimals(2), fc.nat());
}

/** A payload of a kind, by the names of a write, that has its whole natural key. */
export function payloadsOf(kind: Kind): fc.Arbitrary<JsonObject> {
  const fields = [...kind.fields, ...kind.hints].filter(({ name }) => name !== 'id');
  const { naturalKey } = kind;
  const required = naturalKey === 'all sent fields' ? ['name'] : naturalKey;
  const unheard = ['name', 'unheard_of'].map((name) => [name, suiting(undefined)] as const);
  const values = Object.fromEntries([
    ...unheard,
    ...fields.map((field) => [writeNameOf(field), suiting(field)] as const),
  ]);
  const requiredKeys = required.map((name) => {
    const field = findSentField(kind, name);
    return field ? writeNameOf(field) : name;
  });
  return fc.record(values, { requiredKeys });
}

/** Any kind with a payload for it. */
export const writes = fc
  .constantFrom(...WRITTEN_KINDS)
  .chain((kind) => payloadsOf(kind).map((payload) => ({ kind, payload })));

/** How the service shows what it was sent: read names, its own spellings, and members that nobody sent. */
export function asShown(kind: Kind, payload: JsonObject): JsonObject {
  const shown = Object.entries(payload).map(([name, value]) => {
    const readName = readNameOf(kind, name);
    return [readName, respelledBy(findSentField(kind, readName), value)] as const;
  });
  return Object.fromEntries([['id', 7], ...shown, ['system_id_of_ours', 3]]);
}

const RESPELLED: Partial<Record<Field['type'], (text: string, value: Json) => Json>> = {
  integer: (text, value) => (isNumber(value) ? text : new LosslessNumber(text)),
  flag: (_text, value) => (typeof value === 'string' ? Number(value) : String(Number(value))),
  decimal: (text, value) => (isNumber(value) ? padToScale(text, 8) : new LosslessNumber(`${text}0`)),
  time: (text) => `${text}:00`,
  timestamp: (text) => text.replace(' ', 'T'),
};

function respelledBy(field: Field | undefined, value: Json): Json {
  if (isArray(value))
    return value.map((element, at) => (isObject(element) ? { id: at + 1, ...element, fax: '' } : element));
  const text = typeof value === 'string' ? value : compactJson(value);
  const respelled = field && RESPELLED[field.type]?.(text, value);
  return respelled ?? (isNumber(value) ? text : value);
}
