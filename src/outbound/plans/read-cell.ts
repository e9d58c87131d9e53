import { Big } from 'big.js';
import type { Field } from '../../catalog/kind.ts';
import { decodeField } from '../../diff/decode-record.ts';
import { decimalPlaces, shortestNumber } from '../../lib/json/decimal.ts';
import { parseJson } from '../../lib/json/json.ts';
import type { Json } from '../../lib/json/json.ts';
import { isCalendarDate } from '../../lib/time/clock.ts';
import { writtenValue } from '../intake/write-value.ts';
import type { Sheet, SheetCell } from './sheet-table.ts';

/** What a cell says of a field. */
type CellReading =
  | { readonly is: 'same' }
  | { readonly is: 'new'; readonly value: Json }
  | { readonly is: 'refused'; readonly why: string };

/**
 * Reads the cell of a field beside the value that was exported. What a spreadsheet does to a value by itself is either told from
 * an edit, or refused: it never becomes a change.
 */
export function readCell(
  field: Field,
  { text: given, isFormula }: SheetCell,
  seen: Json,
  mark: Sheet['mark'],
): CellReading {
  if (isFormula) return refused('it is a formula: put its value there');
  const text = plainText(given);
  const shown = plainText(shownText(field, seen));
  if (isSame(field, text, shown, mark)) return { is: 'same' };
  const harm = harmDone(field, text, shown, mark);
  if (harm !== null) return refused(harm);
  if (text === CLEARED) return { is: 'new', value: null };
  const read = isNumeric(field) ? numberIn(text, mark) : text;
  if (read === null) return refused(`expected a number, got "${text}"`);
  const written = writtenValue(field, field.type === 'integer' ? wholeOr(read) : read);
  if ('fault' in written) return refused(written.fault);
  // The service may round it, and what is applied is to be what was shown.
  return written.note === undefined
    ? { is: 'new', value: written.value }
    : refused(`"${text}" ${written.note}`);
}

/** Clears a field. A blank cell says neither null nor an empty text. */
const CLEARED = 'NULL';

const refused = (why: string): CellReading => ({ is: 'refused', why });

const isNumeric = ({ type }: Field): boolean => ['integer', 'flag', 'decimal'].includes(type);

const wholeOr = (digits: string): Json => (/^-?(?:0|[1-9]\d*)$/.test(digits) ? parseJson(digits) : digits);

/** The value as an export shows it; blank where it fits no rule. */
function shownText(field: Field, seen: Json): string {
  const value = decodeField(field, seen, () => undefined);
  const text = value === null ? '' : String(value);
  return field.type === 'timestamp' ? text.slice(0, 'YYYY-MM-DD HH:MM:SS'.length) : text;
}

const SIGN = '[=+\\-@\uff1d\uff0b\uff0d\uff20]';
const GUARD = new RegExp(`^(\\s*)'(?=\\s*${SIGN}|[\\t\\r])`);
const INNER_GUARD = new RegExp(`([;,\\t\\r\\n])'(?=[^\\S\\t\\r\\n]*${SIGN})`, 'g');

/** A text without what an export puts before it to keep it a text, and with the line ends of one system. */
export const plainText = (text: string): string =>
  text.replace(/^\t/, '').replace(GUARD, '$1').replace(INNER_GUARD, '$1').replace(/\r\n?/g, '\n');

function isSame(field: Field, text: string, shown: string, mark: Sheet['mark']): boolean {
  if (text === shown) return true;
  if (isNumeric(field)) return shown !== '' && shortestOf(numberIn(text, mark)) === shortestOf(shown);
  if (field.type === 'timestamp') return shown === `${text} 00:00:00`; // A workbook has no midnight.
  if (field.type === 'time') return text === shown.replace(/:00$/, '');
  return text.endsWith('…') && text.length > LONG && shown.startsWith(text.slice(0, -1)); // A workbook's cell is full.
}

const LONG = 32_000;

const shortestOf = (text: string | null): string | null => (text === null ? null : shortestNumber(text));

const GROUPS = /^(-?\d{1,3})((?:[ \u00a0\u202f]\d{3})+)(?=$|[.,])/;
const NUMBER = /^(-?)0*(\d+)(?:([.,])(\d+))?$/;
const THOUSAND = 3;

/**
 * A number as a person writes it, `1 234,50`, in the grammar of JSON; null for any other text. Three digits behind the other sign
 * than that of the file may be thousands or thousandths, so they are none.
 */
export function numberIn(text: string, mark: Sheet['mark']): string | null {
  const grouped = text.trim().replace(/[ \u00a0\u202f]?\$$/, '');
  const plain = grouped.replace(GROUPS, (_, head: string, tail: string) => head + tail.replace(/\D/g, ''));
  const [, sign, whole, point, places] = NUMBER.exec(plain) ?? [];
  if (sign === undefined || whole === undefined) return null;
  if (point === undefined || places === undefined) return sign + whole;
  return point !== mark && places.length === THOUSAND ? null : `${sign}${whole}.${places}`;
}

const POWER = /^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/i;
const FORMULA = /^\s*[=@\uff1d\uff20]/;
const ERROR = /^(?:#(?:REF|NAME|NOM|VALUE|VALEUR|DIV\/0|N\/A|NUM|NUL|NULL)[!?]?|Err:\s?\d+)$/i;
const LONG_DIGITS = /^\d{16,}$/;
const EXACT_DIGITS = 15;
const SHORT_DATE = /^\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?$/;

/** What a spreadsheet has probably done to the value by itself; null for an edit. */
function harmDone(field: Field, text: string, shown: string, mark: Sheet['mark']): string | null {
  const isNumber = isNumeric(field);
  const harms: readonly (readonly [boolean, string])[] = [
    [text === '', `it is blank, which says neither null nor an empty text: write ${CLEARED} to clear it`],
    [ERROR.test(text), `it is the error ${text} of a formula`],
    [FORMULA.test(text), 'it is a formula: put its value there'],
    [
      POWER.test(text),
      `a spreadsheet has shortened it to ${text}: write all digits, in a cell of the form Text`,
    ],
    [isNumber && lostDigits(numberIn(text, mark), shown), 'a spreadsheet has rounded it: write all digits'],
    [
      !isNumber && ZEROS.test(shown) && text === shown.replace(ZEROS, ''),
      `it has lost its zeros: it was ${shown}`,
    ],
    [!isNumber && isRounded(text, shown), `a spreadsheet has rounded it: it was ${shown}`],
    [
      field.type === 'text' && SHORT_DATE.test(shown) && isCalendarDate(text),
      `it was ${shown}, and is a date`,
    ],
  ];
  return harms.find(([isDone]) => isDone)?.[1] ?? null;
}

const ZEROS = /^0+(?=\d)/;

const isRounded = (text: string, shown: string): boolean =>
  LONG_DIGITS.test(shown) && text.length === shown.length && text.startsWith(shown.slice(0, EXACT_DIGITS));

const GENERAL_DIGITS = 10;

/** Whether a number is what a cell shows of the exported one, which has more digits. */
function lostDigits(text: string | null, shown: string): boolean {
  if (text === null || shown.replace(/\D/g, '').length <= GENERAL_DIGITS) return false;
  const places = decimalPlaces(text);
  return places < decimalPlaces(shown) && Big(shown).round(places).eq(text);
}
