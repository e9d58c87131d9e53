import { canonicalNumber } from '../../../lib/json/decimal.ts';
import { isCalendarDate, readClockTime } from '../../../lib/time/clock.ts';

/** How a file spells values. */
export interface Spelling {
  /** The sign before the decimals. */
  readonly decimalSign: ',' | '.';
  /** Whether the day comes before the month; null where no date of the file shows it. */
  readonly dayFirst: boolean | null;
}

const LONGEST_NUMBER = 400;
const CURRENCY = '(?:(?:CA|US|C)?\\$|[€£¥]|CAD|USD|EUR|GBP|CHF)';
const MINUS = '[-\\u2212]';
const SIGNED = new RegExp(
  `^(?:(${MINUS})|\\+)?\\s?${CURRENCY}?\\s?(${MINUS})?(.*?)(${MINUS})?\\s?${CURRENCY}?$`,
  'i',
);
const GROUPS = /^(\d{1,3})((?:[ '\u2019]\d{3})+)(?=$|[.,])/;
const NUMBERS = {
  '.': /^(\d+|\d{1,3}(?:,\d{3})+)(?:\.(\d+))?$/,
  ',': /^(\d+|\d{1,3}(?:\.\d{3})+)(?:,(\d+))?$/,
};
const PLAIN = { '.': /^-?\d+(?:\.\d+)?$/, ',': /^-?\d+(?:,\d+)?$/ };

/** Removes the parts of a number that mean the same in all countries: spaces, signs of currencies, `(12.00)`, `12-`. */
function bareNumber(text: string): { readonly sign: string; readonly digits: string } {
  const plain = text.replace(/[\s\u00a0\u202f]+/g, ' ').trim();
  const inner = /^\((.*)\)$/.exec(plain)?.[1];
  const [, before, within, unsigned = '', behind] = SIGNED.exec(inner ?? plain) ?? [];
  const digits = unsigned
    .trim()
    .replace(GROUPS, (_, head: string, tail: string) => head + tail.replace(/\D/g, ''));
  return { sign: inner === undefined && !(before ?? within ?? behind) ? '' : '-', digits };
}

/** Parses a number with this sign before the decimals, into the grammar of JSON; null for any other text. */
export function parseNumberWith(text: string, decimalSign: Spelling['decimalSign']): string | null {
  if (text.length > LONGEST_NUMBER) return null;
  const { sign, digits } = bareNumber(text);
  const [, whole, places] = NUMBERS[decimalSign].exec(digits) ?? [];
  if (whole === undefined) return null;
  const plain = sign + (whole.replace(/\D/g, '').replace(/^0+(?=\d)/, '') || '0');
  return places === undefined ? plain : `${plain}.${places}`;
}

const otherDecimalSign = (decimalSign: Spelling['decimalSign']): Spelling['decimalSign'] =>
  decimalSign === '.' ? ',' : '.';

/**
 * Parses a number as a person writes it, `1 234,50`, into the grammar of JSON; null for any other text, and for `1.234` in a file with
 * decimal commas: it may mean thousands or thousandths.
 */
export function parseNumber(text: string, decimalSign: Spelling['decimalSign']): string | null {
  const expected = parseNumberWith(text, decimalSign);
  if (expected !== null && PLAIN[decimalSign].test(text.trim())) return expected;
  const alternative = parseNumberWith(text, otherDecimalSign(decimalSign));
  if (expected === null || alternative === null) return expected ?? alternative;
  return canonicalNumber(expected) === canonicalNumber(alternative) ? expected : null;
}

/** The numbers or dates that an unclear text may be, as this file writes them: `: write 1234 or 1,234`; empty for another text. */
export function clearSpellings(text: string, decimalSign: Spelling['decimalSign']): string {
  const numbers = [decimalSign, otherDecimalSign(decimalSign)].map(
    (each) => parseNumberWith(text, each)?.replace('.', decimalSign) ?? null,
  );
  const dates = [true, false].map((dayFirst) => parseDate(text, dayFirst));
  const clear = numbers.includes(null) ? dates : numbers;
  return clear.includes(null) ? '' : `: write ${clear.join(' or ')}`;
}

type Likeness = 'same' | 'other' | 'unclear';

function compareNumbers(text: string, shown: string, decimalSign: Spelling['decimalSign']): Likeness {
  const [expected, alternative] = [decimalSign, otherDecimalSign(decimalSign)].map((each) => {
    const number = parseNumberWith(text, each);
    return number === null ? null : canonicalNumber(number);
  });
  const wanted = canonicalNumber(shown);
  if (expected === wanted || (expected === null && alternative === wanted)) return 'same';
  return alternative === wanted ? 'unclear' : 'other';
}

const DATE = /^(\d{1,4})(\.\s?|[/\-\s])(\d{1,2})(?:\.\s?|[/\-\s])(\d{1,4})\.?$/;
const SERIAL = /^\d{1,6}(?:[.,]\d+)?$/;
const DAY_MS = 86_400_000;
const DAY_ZERO = Date.UTC(1899, 11, 30);

interface DateParts {
  readonly parts: readonly [number, number, number];
  readonly order: 'year first' | 'day first' | 'month first' | 'unclear';
  readonly hasYear: boolean;
}

function parseDateParts(text: string): DateParts | null {
  const [, first = '', sign = '', second, third = ''] = DATE.exec(text.trim()) ?? [];
  if (second === undefined) return null;
  const parts = [Number(first), Number(second), Number(third)] as const;
  const hasYear = first.length === 4 || third.length === 4;
  return { parts, order: dateOrder(first, parts, sign), hasYear };
}

function dateOrder(first: string, [a, b]: DateParts['parts'], sign: string): DateParts['order'] {
  if (first.length > 2) return 'year first';
  if (a > 12 || sign.startsWith('.')) return 'day first';
  return b > 12 ? 'month first' : 'unclear';
}

/** Whether dates of a file have the day before the month; null unless unambiguous dates show it. */
export function detectDayFirst(texts: Iterable<string>): boolean | null {
  const orders = new Set<DateParts['order'] | undefined>();
  for (const text of texts) orders.add(parseDateParts(splitInstant(text)[0])?.order);
  const isDayFirst = orders.has('day first');
  return isDayFirst === orders.has('month first') ? null : isDayFirst;
}

/** Parses a date into `YYYY-MM-DD`; null for an ambiguous one. */
export function parseDate(text: string, dayFirst: boolean | null): string | null {
  const { parts, order, hasYear } = parseDateParts(text) ?? {};
  if (parts === undefined || hasYear !== true) return null;
  const [a, b, c] = parts;
  const isDayFirst = order === 'unclear' && a !== b ? dayFirst : order !== 'month first';
  if (isDayFirst === null) return null;
  const [year, month, day] = order === 'year first' ? parts : isDayFirst ? [c, b, a] : [c, a, b];
  const padded = (part: number, length: number): string => String(part).padStart(length, '0');
  const date = `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
  return isCalendarDate(date) ? date : null;
}

function isSameDate(text: string, shown: string, dayFirst: boolean | null): boolean {
  const { parts, order } = parseDateParts(text) ?? {};
  if (parts === undefined)
    return SERIAL.test(text) && secondsOf(text) === Date.parse(`${shown}T00:00:00Z`) / 1000;
  const [year = 0, month = 0, day = 0] = shown.split('-').map(Number);
  const isShown = (y: number, m: number, d: number): boolean =>
    (y === year || (y < 100 && y === year % 100)) && m === month && d === day;
  const [a, b, c] = parts;
  if (order === 'year first') return isShown(a, b, c);
  const isDayFirst = order === 'unclear' ? dayFirst : order === 'day first';
  return (isDayFirst !== false && isShown(c, b, a)) || (isDayFirst !== true && isShown(c, a, b));
}

/** The seconds since 1970 of an instant that Excel counts in days. */
const secondsOf = (days: string): number =>
  Math.round((DAY_ZERO + Number(days.replace(',', '.')) * DAY_MS) / 1000);

const CLOCK = /^(\d{1,2})(?::| ?h ?)(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*(?:([ap])\.?\s?m\.?)?$/i;

/** A time of day as `HH:MM:SS`; without seconds as `HH:MM`. */
function parseTime(text: string): string | null {
  const [, hours, minutes = '', seconds, half] = CLOCK.exec(text.trim()) ?? [];
  if (hours === undefined) return null;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (/p/i.test(half) ? 12 : 0);
  return [String(hour).padStart(2, '0'), minutes, ...(seconds === undefined ? [] : [seconds])].join(':');
}

function isSameTime(text: string, shown: string): boolean {
  const whole = wholeTime(shown);
  if (/^0?[.,]\d+$/.test(text)) return Math.abs(secondsOf(text) - secondsOf('0') - secondsIn(whole)) <= 1;
  const time = parseTime(text);
  return time !== null && wholeTime(time) === whole;
}

/** A time with seconds; a column holds the end of a day as its beginning. */
const wholeTime = (time: string): string => (readClockTime(time) ?? time).replace(/^24:/, '00:');

const secondsIn = (time: string): number => Date.parse(`1970-01-01T${time}Z`) / 1000;

const BEFORE_CLOCK = /(?<![ T,])[ T,]+(?=\d{1,2}(?::| ?h))/;

/** The day of an instant, and its time of day; an empty text if it has none. */
function splitInstant(text: string): readonly [string, string] {
  const [day = '', ...clocks] = text.trim().split(BEFORE_CLOCK);
  return [day, clocks.join(' ')];
}

function isSameInstant(text: string, shown: string, dayFirst: boolean | null): boolean {
  const [date = '', time = ''] = shown.split(' ');
  if (SERIAL.test(text)) return Math.abs(secondsOf(text) - Date.parse(`${date}T${time}Z`) / 1000) <= 1;
  const [day, clock] = splitInstant(text);
  if (clock === '') return time === '00:00:00' && isSameDate(text, date, dayFirst);
  const clockTime = parseTime(clock);
  return clockTime !== null && time.startsWith(clockTime) && isSameDate(day, date, dayFirst);
}

const LONGEST = 60;

/** Compares a text with a value of any type that an export has shown: `unclear` if the text may be the same value or another. */
export function compareSpellings(text: string, shown: string, spelling: Spelling): Likeness {
  if (text === shown) return 'same';
  if (text === '' || shown === '') return 'other';
  if (/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(shown))
    return compareNumbers(text, shown, spelling.decimalSign);
  if (text.length > LONGEST) return 'other';
  const isSame =
    (isCalendarDate(shown) && isSameDate(text, shown, spelling.dayFirst)) ||
    (/^\d\d:\d\d(?::\d\d)?$/.test(shown) && isSameTime(text, shown)) ||
    (/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(shown) && isSameInstant(text, shown, spelling.dayFirst));
  return isSame ? 'same' : 'other';
}

const MONTH =
  '(?:jan|f[eé]v|feb|m[aä]r|a[vp]r|ma[iy]|ju[inl]|ao[uû]|aug|sep|o[ck]t|nov|d[eé][cz])[a-zéû]*\\.?';
const DATE_LIKE = new RegExp(
  `^(?=.*\\d)(?:(?:\\d{1,4}[-/. ]?)?${MONTH}[-/. ]?(?:\\d{1,4})?|\\d{1,4}[-/.]\\d{1,2}(?:[-/.]\\d{1,4})?)$`,
  'i',
);
const SHOWN_DATE = new RegExp(`^(?:\\d{1,2}[-/. ]${MONTH}(?:[-/. ]\\d{2,4})?|${MONTH}[-/. ]\\d{2,4})$`, 'i');
const TRUTH = /^(?:true|false|vrai|faux)$/i;

const shapeOf = (text: string): string => text.replace(/\d/g, '9').replace(/\p{L}/gu, 'a');

/** Whether a spreadsheet has probably converted a text: `MAR1` or `3-4` into a date, `true` into a truth value. */
export function isTakenForDate(text: string, shown: string): boolean {
  if (text.length > LONGEST || shown.length > LONGEST) return false;
  if (text.toLowerCase() === shown.toLowerCase()) return TRUTH.test(shown) || DATE_LIKE.test(shown);
  const isDate = SHOWN_DATE.test(text) || (DATE.test(text) && text.length > 5) || isCalendarDate(text);
  return isDate && DATE_LIKE.test(shown) && shapeOf(text) !== shapeOf(shown);
}
