import { isExcludedName } from '../catalog/exclude.ts';
import { findSentField, type Field, type Kind } from '../catalog/kind.ts';
import { Big } from 'big.js';
import { decimalPlaces } from '../lib/json/decimal.ts';
import { isArray, isObject, type Json, type JsonObject } from '../lib/json/json.ts';
import { decodeIfFits, type ColumnValue } from './decode-record.ts';
import { alteredFields, hasNaturalKeyOf, keyFields } from './match.ts';
import { normalizeSpelling } from './normalize-spelling.ts';
import { isSameValue, numberText, readNameOf } from './merge-update.ts';
import { isBlank, shownValue } from './shown-value.ts';

/** A text that a create sent; `field` is its name in a read. */
export interface SentText {
  readonly field: string;
  readonly text: string;
}

/** Shorter texts occur in too many records by chance. */
const MIN_CHARACTERS = 4;

/** The texts of a payload that are long enough to identify a record; the mirror knows how many records share each. */
export function longTexts(kind: Kind, payload: JsonObject): readonly SentText[] {
  return Object.entries(payload).flatMap(([name, text]) => {
    const field = readNameOf(kind, name);
    const { type, refersTo }: Partial<Field> = findSentField(kind, field) ?? { type: 'text' };
    const isText = type === 'text' && refersTo === undefined;
    const isLong = typeof text === 'string' && text.replace(/\s/g, '').length >= MIN_CHARACTERS;
    return isText && isLong ? [{ field, text }] : [];
  });
}

/**
 * Returns whether a record cannot be the one that a create made: a field of the natural key that services do not rewrite
 * differs, or the record shows none of the distinctive texts. Other differences rule nothing out, because the service may
 * rewrite values and people may edit the record. `distinctive` are the sent texts that few records share.
 */
export function isRuledOut(match: {
  readonly kind: Kind;
  readonly payload: JsonObject;
  readonly distinctive: readonly SentText[];
  readonly record: JsonObject;
}): boolean {
  const { kind, payload, distinctive, record } = match;
  if (hasNaturalKeyOf(kind, payload, record)) return false;
  const keyed = keyFields(kind, payload, record);
  if (keyed.some((field) => isContradicted(findSentField(kind, field.name), field.sent, field.remote)))
    return true;
  // Where a record shows nothing, the service may have dropped what was sent.
  const shownDistinctive = distinctive.filter(
    (text) => !isBlank(findSentField(kind, text.field), shownValue(kind, record, text.field)),
  );
  return shownDistinctive.length > 0 && !shownDistinctive.some((sent) => showsText(kind, record, sent));
}

/**
 * Returns whether a record shows a value that a create sent: as it was sent, or (`isLike`) as the service may have rewritten it.
 * Flags and zeros are the same in too many records; where nothing else was sent that a record can show, none has to.
 */
export function showsSentValue(
  kind: Kind,
  payload: JsonObject,
  record: JsonObject,
  isLike: typeof canComeFrom = isSameValue,
): boolean {
  const sent = Object.entries(payload).flatMap(([writeName, value]) => {
    const name = readNameOf(kind, writeName);
    const field = findSentField(kind, name);
    const isCommon = field?.type === 'flag' || isBlank(field, value) || numberText(value) === '0';
    return isCommon || isExcludedName(kind, name) ? [] : [{ name, field, value }];
  });
  return (
    sent.length === 0 ||
    sent.some(({ name, field, value }) =>
      isLike(
        field,
        normalizeSpelling(field, value),
        normalizeSpelling(field, shownValue(kind, record, name) ?? null),
      ),
    )
  );
}

/** Returns whether the service may have derived the shown value from the sent one. */
export function canComeFrom(field: Field | undefined, sent: Json, remote: Json | undefined): boolean {
  if (isSameValue(field, sent, remote)) return true;
  if (remote === undefined || isBlank(field, remote)) return false;
  if (field?.type === 'decimal') return isRounded(sent, remote);
  if (field?.type === 'time') return isRoundedTime(decodeIfFits(field, sent), decodeIfFits(field, remote));
  const isText = typeof sent === 'string' && (field === undefined || field.type === 'text');
  return isText && textsIn(remote).some((text) => isSpelledLike(sent, text));
}

/** Returns whether the service may have derived all that a record shows of a payload; where it shows nothing, it may have dropped it. */
export const canBeMadeOf = (kind: Kind, payload: JsonObject, record: JsonObject): boolean =>
  alteredFields(kind, payload, record).every(({ field: name, sent, shown }) => {
    const field = findSentField(kind, name);
    return isBlank(field, sent) || isBlank(field, shown) || canComeFrom(field, sent, shown);
  });

function isContradicted(field: Field | undefined, sent: Json, remote: Json | undefined): boolean {
  if (field === undefined || isBlank(field, sent) || remote === undefined || isBlank(field, remote))
    return false;
  if (isSameValue(field, sent, remote)) return false;
  if (isReference(field)) return isRecordReference(sent) && isRecordReference(remote);
  const ours = decodeIfFits(field, sent);
  const theirs = decodeIfFits(field, remote);
  if (typeof ours !== 'string' || typeof theirs !== 'string') return false;
  if (field.type === 'date') return true;
  return field.type === 'time' && minutesApart(ours, theirs) > MOST_MINUTES;
}

/** Services round times, to a quarter of an hour or to the hour. */
const MOST_MINUTES = 60;
const MINUTES_A_DAY = 1440;

function minutesApart(timeA: string, timeB: string): number {
  const apart = Math.abs(minuteOf(timeA) - minuteOf(timeB));
  return Math.min(apart, MINUTES_A_DAY - apart);
}

function minuteOf(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  return hours * 60 + minutes + seconds / 60;
}

/** Cut to its minute, rounded to full five minutes or tenths of an hour, or moved by an hour as between two time zones. */
function isRoundedTime(sent: ColumnValue | undefined, remote: ColumnValue | undefined): boolean {
  if (typeof sent !== 'string' || typeof remote !== 'string') return false;
  const apart = minutesApart(sent, remote);
  const isFull = minuteOf(remote) % 5 === 0 || minuteOf(remote) % 6 === 0;
  return apart < 1 || apart === MOST_MINUTES || (isFull && apart < MOST_MINUTES);
}

const isReference = ({ name, type, refersTo }: Field): boolean =>
  refersTo !== undefined || (type === 'integer' && name.endsWith('_id'));

/** 0 names no record. */
function isRecordReference(value: Json): boolean {
  const number = numberText(value);
  return number !== null && number !== '0';
}

function isRounded(sent: Json, remote: Json): boolean {
  const ours = numberText(sent);
  const theirs = numberText(remote);
  if (ours === null || theirs === null) return false;
  const apart = new Big(ours).minus(theirs).abs();
  return apart.lt(`1e-${decimalPlaces(theirs)}`);
}

/** In its own field a text may have been cut to any length; in another one, a short text is there by chance. */
function showsText(kind: Kind, record: JsonObject, sent: SentText): boolean {
  const isLike = (shown: string): boolean => isSpelledLike(sent.text, shown);
  if (textsIn(shownValue(kind, record, sent.field) ?? null).some(isLike)) return true;
  return textsIn(record).some((shown) => shown.length >= MIN_CHARACTERS && isLike(shown));
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value];
  if (isArray(value)) return value.flatMap(textsIn);
  if (isObject(value)) return Object.values(value).flatMap(textsIn);
  return value === null || typeof value === 'boolean' ? [] : [String(value)];
}

/** Whether one of two texts contains the other, but for case, accents, blanks and signs, and for what escaping made of them. */
function isSpelledLike(sent: string, shown: string): boolean {
  return FORMS.some((form) => {
    const ours = form(sent);
    const theirs = form(shown);
    if (ours === '') return false;
    if (theirs === '') return /[?\ufffd]/.test(shown); // Its letters were lost.
    return ours.includes(theirs) || theirs.includes(ours);
  });
}

/** Accents off, or every letter left out that has one, as old encodings and escapes do. */
const FORMS: readonly ((text: string) => string)[] = [
  (text) =>
    inOneCase(unescaped(text).normalize('NFKD'))
      .replace(/œ/g, 'oe')
      .replace(/æ/g, 'ae')
      .replace(PUNCTUATION, ''),
  (text) =>
    unescaped(text)
      .normalize('NFC')
      .toLowerCase()
      .replace(/[^a-z0-9]/g, ''),
];

/** The sharp s has a capital form of two letters. */
const inOneCase = (text: string): string => text.toUpperCase().toLowerCase();

const PUNCTUATION = /[^\p{L}\p{N}]/gu;

/** Without HTML entities, escaped once or more often, whole or cut off. */
const unescaped = (text: string): string => text.replace(/&(?:(?:amp|#0*38|#x0*26);)*#?\w*(?:;|$)/gi, '');
