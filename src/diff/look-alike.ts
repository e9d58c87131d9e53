import { Big } from 'big.js';
import type { Field } from '../catalog/kind.ts';
import { decimalPlaces } from '../lib/json/decimal.ts';
import { canonicalJson, isArray, isObject } from '../lib/json/json.ts';
import type { Json, JsonObject } from '../lib/json/json.ts';
import { ownValue } from './decode-record.ts';
import { numberText, holds } from './written.ts';
import type { SentAndShown } from './written.ts';

/** Whether a shown value could be the service's version of a sent one. */
export function couldHold(field: Field | undefined, { sent, remote }: SentAndShown): boolean {
  if (holds(field, { sent, remote })) return true;
  if (remote === undefined) return false;
  if (isArray(sent) && isArray(remote))
    return (
      sent.length === remote.length &&
      sent.every((element, at) => couldHoldElement(field, [element, remote[at]]))
    );
  if (isObject(sent) && isObject(remote)) return couldHoldMembers([], [sent, remote]);
  return isLooseScalar(field, [sent, remote]);
}

function couldHoldElement(
  field: Field | undefined,
  [sent, remote]: readonly [Json, Json | undefined],
): boolean {
  if (isObject(sent) && isObject(remote)) return couldHoldMembers(field?.items ?? [], [sent, remote]);
  return couldHold(undefined, { sent, remote });
}

function couldHoldMembers(
  items: readonly Field[],
  [sent, remote]: readonly [JsonObject, JsonObject],
): boolean {
  return Object.entries(sent).every(([name, value]) => {
    const field = items.find((candidate) => candidate.name === name);
    return couldHold(field, { sent: value, remote: ownValue(remote, name) });
  });
}

function isLooseScalar(field: Field | undefined, [sent, remote]: readonly [Json, Json]): boolean {
  const [ours, theirs] = [trimmedNumber(sent), trimmedNumber(remote)];
  if (ours !== null && theirs !== null)
    return field?.type === 'text' ? isLooseCode([sent, remote]) : isLooseNumber(ours, theirs);
  return isSameMoment(field, [sent, remote]) || isLooseText(textOf(sent), textOf(remote));
}

/** Digits in a text field are mostly a code: it may lose its leading zeros, but is never rounded. */
function isLooseCode([sent, remote]: readonly [Json, Json]): boolean {
  return trimmedNumber(sent) === trimmedNumber(remote) || isLooseText(textOf(sent), textOf(remote));
}

/**
 * The part of a date or time that the service keeps for certain: seconds, and the time after a date, may be added or
 * dropped.
 */
const CALENDAR_LENGTHS: Partial<Record<Field['type'], number>> = {
  date: '2026-01-05'.length,
  time: '08:00'.length,
  timestamp: '2026-01-05 08:00'.length,
};

function isSameMoment(field: Field | undefined, [sent, remote]: readonly [Json, Json]): boolean {
  const length = field && CALENDAR_LENGTHS[field.type];
  return length !== undefined && calendarText(textOf(sent), length) === calendarText(textOf(remote), length);
}

function calendarText(text: string, length: number): string {
  return text
    .trim()
    .replace('T', ' ')
    .replace(/\b\d\b/g, '0$&')
    .slice(0, length);
}

function trimmedNumber(value: Json): string | null {
  return numberText(typeof value === 'string' ? value.trim() : value);
}

function textOf(value: Json): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : canonicalJson(value);
}

/**
 * Shorter texts are taken to fit their column: `C-1` is another code, not `C-10` cut short.
 *
 * Measured in characters of the longest spelling, since an escaped text is cut sooner.
 */
const LONGEST_UNCUT = 20;
const LONGEST_ENTITY = 8;

/**
 * Whether a text could be the service's version of another: spaces, case, accents, escapes, a lossy encoding, a cut.
 */
function isLooseText(sent: string, remote: string): boolean {
  const [ours, theirs] = [folded(sent), folded(remote)];
  if (ours === theirs) return true;
  if (theirs === '') return false;
  if (theirs === folded(untilWideCharacter(sent))) return true;
  const ending = withoutTornEntity(withoutEntities(remote));
  if (isCuttable(sent) && ours.startsWith(folded(ending))) return true;
  return hasForeign(sent) && isPlainSpelling(sent, { remote, ending });
}

/** Whether a text could be part of another, after the service has altered both. */
export function isLooselyWithin(part: string, whole: string): boolean {
  return folded(whole).includes(folded(part));
}

/** Whether a number could be another one after rounding, to fewer places or to a float; both in their shortest form. */
function isLooseNumber(sent: string, remote: string): boolean {
  const unit = new Big(`1e-${decimalPlaces(remote)}`);
  if (new Big(sent).minus(remote).abs().lt(unit)) return true;
  if (Number(sent) === Number(remote)) return true; // Beyond 2^53, neighbouring integers are one float.
  const hasPlaces = decimalPlaces(sent) > 0 || decimalPlaces(remote) > 0;
  return hasPlaces && Math.fround(Number(sent)) === Math.fround(Number(remote));
}

/** The text without its spelling: letters without accents in one case, digits, signs, no spaces. */
function folded(text: string): string {
  const letters = withoutEntities(text)
    .normalize('NFKD')
    .replace(UNSEEN, '')
    .toLowerCase() // First: of the two sharp s, only the small one has a capital form.
    .replace(OTHERWISE, (character) => PLAINER.get(character) ?? '');
  return letters.toUpperCase();
}

/** The text after an ASCII-only encoding, which replaces other characters by question marks or drops them. */
function plain(text: string): string {
  return withoutEntities(text)
    .normalize('NFC')
    .replace(/[^!-~]|[?\\]/g, '')
    .toUpperCase();
}

function isPlainSpelling(sent: string, { remote, ending }: { remote: string; ending: string }): boolean {
  const [ours, theirs] = [plain(sent), plain(remote)];
  if (ours === theirs) return theirs !== '' || LOST.test(remote);
  return isCuttable(sent) && theirs !== '' && ours.startsWith(plain(ending));
}

const hasForeign = (text: string): boolean => /[^\t\n\r -~]/.test(text.normalize('NFC'));

/** Old databases know no character beyond the first 65,536 and end the text there. */
function untilWideCharacter(text: string): string {
  const at = text.search(/[\u{10000}-\u{10ffff}]/u);
  return at === -1 ? text : text.slice(0, at);
}

function isCuttable(text: string): boolean {
  const escapable = text.match(/[^\w\s.,;:!?*/()+-]/g)?.length ?? 0;
  return text.length + escapable * (LONGEST_ENTITY - 1) > LONGEST_UNCUT;
}

/** Marks on letters, spaces, invisible characters, backslashes, and characters unknown to old databases. */
const UNSEEN = /[\p{M}\s\p{C}\\\u{10000}-\u{10ffff}]/gu;
const LOST = /[?\ufffd]/;

const PLAINER = new Map([
  ['œ', 'oe'],
  ['æ', 'ae'],
  ['ø', 'o'],
  ['ł', 'l'],
  ['đ', 'd'],
  ['ı', 'i'],
  ['‘', "'"],
  ['’', "'"],
  ['“', '"'],
  ['”', '"'],
  ['–', '-'],
  ['—', '-'],
  ['\u0307', ''], // The dot that the capital I with a dot leaves in small letters.
]);
const OTHERWISE = new RegExp(`[${[...PLAINER.keys()].join('')}]`, 'gu');

/** Undoes HTML escaping, once or many times over: for comparing texts, never for showing them. */
function withoutEntities(text: string): string {
  if (!text.includes('&')) return text;
  // Repeated escaping only multiplies ampersands, so one pass over each of the two patterns is enough.
  return text.replace(AMPERSANDS, '&').replace(ENTITY, (entity, ...[decimal, hex, name]: Groups) => {
    if (name !== undefined) return namedCharacter(name) ?? entity;
    const point = decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal);
    return point <= LAST_POINT ? String.fromCodePoint(point) : entity;
  });
}

/** Removes the beginning of an entity that was truncated at the end of the text. */
function withoutTornEntity(text: string): string {
  return text.replace(/&#?[a-z\d]{0,8}$/i, '');
}

type Groups = readonly (string | undefined)[];

const AMPERSANDS = /&(?:(?:amp|#0*38|#x0*26);)+/gi;
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi;
const LAST_POINT = 0x10ffff;
/** `&eacute;` and similar: a letter and its accent. */
const LETTER = /^([a-z])(?:grave|acute|circ|tilde|uml|ring|cedil|slash|caron)$/i;
const LIGATURE = /^(ae|oe|sz)lig$/i;

const CHARACTERS = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['laquo', '«'],
  ['raquo', '»'],
  ['lsquo', '‘'],
  ['rsquo', '’'],
  ['ldquo', '“'],
  ['rdquo', '”'],
  ['ndash', '–'],
  ['mdash', '—'],
  ['hellip', '…'],
  ['deg', '°'],
  ['euro', '€'],
]);

/** The character of a name, in any case and without its accent. */
function namedCharacter(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (lower === 'szlig') return 'ss';
  return CHARACTERS.get(lower) ?? LETTER.exec(lower)?.[1] ?? LIGATURE.exec(lower)?.[1];
}
