import { decodeHTMLStrict } from 'entities/decode';
import type { Field } from '../catalog/kind.ts';
import { roundFloatNoise } from '../lib/json/decimal.ts';
import { isArray, isNumber, isObject, type Json, type JsonObject } from '../lib/json/json.ts';

/**
 * Writes a value in one of the spellings that the service may give it: a list escapes HTML where the single record does not,
 * blanks at the ends come and go, accents are composed or not, and a float adds digits to a number or an amount.
 * @param field The field that has the value; undefined = unknown.
 * @param spell Writes a text so.
 */
export function normalizeSpelling(field: Field | undefined, value: Json, spell = normalizeText): Json {
  if (isNumber(value)) return roundFloatNoise(String(value)) ?? value;
  if (typeof value === 'string')
    return (field?.type === 'decimal' ? roundFloatNoise(value, field.scale) : null) ?? spell(value);
  if (isArray(value)) return value.map((item) => normalizeSpelling(field, item, spell));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    normalizeSpelling(itemField(field, name), member, spell),
  ]);
  return Object.fromEntries(members) as JsonObject;
}

/** The field of a member of a nested record. */
export const itemField = (field: Field | undefined, name: string): Field | undefined =>
  field?.items?.find((item) => item.name === name);

/**
 * Writes a text of a natural key as all its spellings have it: without HTML entities, accents composed, each run of blanks one
 * space, none at its ends, and no characters that nobody sees. Digits stay: the codes `1.10` and `1.1` are two.
 */
export const normalizeKey = (text: string): string =>
  unescapedText(text).replace(BLANKS, ' ').replace(UNSEEN, '').trim();

/** The zero-width space, which is pasted along, is no blank to Unicode. */
const BLANKS = /[\s\p{White_Space}\u200b]+/gu;
/** Marks of direction, soft hyphens and joiners. */
const UNSEEN = /\p{Cf}/gu;

/** A text without HTML entities and without blanks at its ends. */
const normalizeText = (text: string): string => unescapedText(text).replaceAll('\r\n', '\n').trim();

/** A text without HTML entities, escaped once or twice. */
const unescapedText = (text: string): string => decodeHTMLStrict(decodeHTMLStrict(text)).normalize('NFC');
