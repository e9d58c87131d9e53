import { Big } from 'big.js';
import type { Field } from '../../../catalog/kind.ts';
import { decodeField } from '../../../diff/decode-record.ts';
import { isBlank } from '../../../diff/shown-value.ts';
import { decimalPlaces, canonicalNumber } from '../../../lib/json/decimal.ts';
import { parseJson, type Json } from '../../../lib/json/json.ts';
import { valueForMessage as beginningOf, writtenValue } from '../../../outbound/intake/write-value.ts';
import { workbookText, type SheetCell } from './sheet-table.ts';
import {
  clearSpellings,
  compareSpellings,
  parseDate,
  isTakenForDate,
  parseNumber,
  type Spelling,
} from './spellings.ts';

/** The meaning of a cell for its field. */
type CellReading =
  | { readonly is: 'same' }
  | { readonly is: 'new'; readonly value: Json }
  | { readonly is: 'refused'; readonly why: string };

/**
 * Reads the cell of a field beside the value that was exported. A value that the spreadsheet altered by itself is
 * either recognised or refused: it never becomes a change.
 */
export function readCell(field: Field, cell: SheetCell, seen: Json, spelling: Spelling): CellReading {
  if (cell.isFormula) return refused('it is a formula: put its value there');
  const text = plainText(cell.text);
  const shown = shownText(field, seen);
  const clear = clearSpellings(text, spelling.decimalSign);
  const likeness = compareCell(field, text, shown, spelling);
  if (likeness === 'same') return { is: 'same' };
  if (likeness === 'unclear')
    return refused(`${beginningOf(text)} may be ${shown}, or another number${clear}`);
  const damage = findDamage(field, text, shown, spelling);
  if (damage !== null) return refused(damage);
  if (text === CLEARED) return isBlank(field, seen) ? { is: 'same' } : { is: 'new', value: null };
  const read = newValue(field, text, spelling.decimalSign);
  if (read === null)
    return refused(
      `expected a ${isNumeric(field) ? 'number' : 'clear date'}, got ${beginningOf(text)}${clear}`,
    );
  const written = writtenValue(field, field.type === 'integer' ? parseWhole(read) : read);
  if ('fault' in written) return refused(written.fault);
  // The service may round it, but the applied value must be the shown one.
  return written.note === undefined
    ? { is: 'new', value: written.value }
    : refused(`${beginningOf(text)} ${written.note}`);
}

function newValue(field: Field, text: string, decimalSign: Spelling['decimalSign']): string | null {
  if (isNumeric(field)) return parseNumber(text, decimalSign);
  if (field.type !== 'date') return text;
  return parseDate(text, null) ?? (clearSpellings(text, decimalSign) === '' ? text : null);
}

/** Returns the texts that a cell has shown and shows now, in one spelling. */
export function spellAlike(field: Field, cell: SheetCell, seen: Json, spelling: Spelling) {
  const respell = (cellText: string, sign: Spelling['decimalSign']): string => {
    if (isNumeric(field)) return canonicalNumber(parseNumber(cellText, sign) ?? '') ?? cellText;
    return (field.type === 'date' ? parseDate(cellText, spelling.dayFirst) : null) ?? cellText;
  };
  return {
    from: respell(shownText(field, seen), '.'),
    to: respell(plainText(cell.text), spelling.decimalSign),
  };
}

/** Clears a field. A blank cell could mean null or an empty text. */
export const CLEARED = 'NULL';

const refused = (why: string): CellReading => ({ is: 'refused', why });

const isNumeric = ({ type }: Field): boolean => ['integer', 'flag', 'decimal'].includes(type);

const parseWhole = (digits: string): Json => (/^-?(?:0|[1-9]\d*)$/.test(digits) ? parseJson(digits) : digits);

/** The value as an export shows it; blank where it fits no rule. */
function shownText(field: Field, seen: Json): string {
  const value = decodeField(field, seen, () => undefined);
  const text = value === null ? '' : String(value);
  return workbookText(
    plainText(field.type === 'timestamp' ? text.slice(0, 'YYYY-MM-DD HH:MM:SS'.length) : text),
  );
}

const SIGN = '[=+\\-@\uff1d\uff0b\uff0d\uff20]';
const GUARD = new RegExp(`^(\\s*)'(?=\\s*${SIGN}|[\\t\\r])`);
const INNER_GUARD = new RegExp(`([;,\\t\\r\\n])'(?=[^\\S\\t\\r\\n]*${SIGN})`, 'g');

/** A text without what an export puts before it to keep it a text, and with the line ends of one system. */
export const plainText = (text: string): string =>
  text.replace(/^\t/, '').replace(GUARD, '$1').replace(INNER_GUARD, '$1').replace(/\r\n?/g, '\n');

function compareCell(field: Field, text: string, shown: string, spelling: Spelling) {
  if (text === shown) return 'same';
  if (field.type !== 'text') return compareSpellings(text, shown, spelling);
  const isCut = text.endsWith('…') && text.length > FULL_CELL && shown.startsWith(text.slice(0, -1));
  return isCut ? 'same' : 'other';
}

/** An export cuts a text that a workbook's cell cannot hold. */
const FULL_CELL = 32_000;

const LONGEST = 60;
const POWER = /^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/i;
const FORMULA = /^\s*[=@\uff1d\uff20]/;
const ERROR = /^(?:#(?:REF|NAME|NOM|VALUE|VALEUR|DIV\/0|N\/A|NUM|NUL|NULL)[!?]?|Err:\s?\d+)$/i;
const LONG_DIGITS = /^\d{16,}$/;
const EXACT_DIGITS = 15;

/** Describes the damage that a spreadsheet has probably done to the value by itself; null for an edit. */
function findDamage(field: Field, text: string, shown: string, spelling: Spelling): string | null {
  const isNumber = isNumeric(field);
  const damages: readonly (readonly [boolean, string])[] = [
    [text === '', `a blank cell is ambiguous: write ${CLEARED} to clear the field`],
    [ERROR.test(text), `it is the error ${text} of a formula`],
    [FORMULA.test(text), 'it is a formula: put its value there'],
    [
      POWER.test(text),
      `a spreadsheet has shortened it to ${text.slice(0, LONGEST)}: write all digits, in a cell of the form Text`,
    ],
    [
      isNumber && lostDigits(parseNumber(text, spelling.decimalSign), shown),
      'a spreadsheet has rounded it: write all digits',
    ],
    [
      !isNumber && ZEROS.test(shown) && text === shown.replace(ZEROS, ''),
      `it has lost its zeros: it was ${shown}`,
    ],
    [!isNumber && isRounded(text, shown), `a spreadsheet has rounded it: it was ${shown}`],
    [field.type === 'text' && isTakenForDate(text, shown), `a spreadsheet has converted it: it was ${shown}`],
    [
      field.type === 'text' && compareSpellings(text, shown, spelling) !== 'other',
      `a spreadsheet has reformatted it: it was ${shown}`,
    ],
  ];
  return damages.find(([isDone]) => isDone)?.[1] ?? null;
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
