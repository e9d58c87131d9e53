import { isArray, isObject, tryParseJson, type Json } from '../lib/json/json.ts';

/** Shorter texts occur in too many other places by chance. */
const MIN_CHARACTERS = 4;

/** Dates, times, decimals and short numbers: many records share them. */
const COMMON = /^(?:\d{4}-\d\d-\d\d(?:[ T].*)?|\d\d:\d\d(?::\d\d)?|-?\d*[.,]\d+|\d{1,6})$/;

/** The texts of a record, at any depth, that may identify it. */
export function identifyingTexts(value: Json): readonly string[] {
  if (isArray(value)) return value.flatMap(identifyingTexts);
  if (isObject(value)) return Object.values(value).flatMap(identifyingTexts);
  const isLong = typeof value === 'string' && foldWords(value).trim().length >= MIN_CHARACTERS;
  return isLong && !COMMON.test(value.trim()) ? [value] : [];
}

/**
 * The words of a text between single blanks, without case, accents, signs and what JSON escapes, so that a text is found as
 * part of any other by whole words.
 */
export function foldWords(text: string): string {
  const plain = text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\[^u"/\\]/g, ' ');
  const words = plain
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return ` ${(words ?? []).join(' ')} `;
}

/** The objects among these JSON texts; a text that is not JSON is skipped. */
export const objectsIn = (texts: readonly (string | null)[]) =>
  texts.flatMap((text) => {
    const value = tryParseJson(text ?? '');
    return isObject(value) ? [value] : [];
  });
