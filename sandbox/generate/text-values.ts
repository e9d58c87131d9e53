import type { Random } from './draw.ts';
import { FIRST_NAMES, TOWNS, STREETS, SUITES, SURNAMES, type Town } from './vocabulary.ts';

/** How the service spells values: money as text, dates without time, a zero date for none (§2.1). */

const DAY_MS = 86_400_000;
/** How long the simulated company has been open on the day on which it lives. */
export const DAYS_OPEN = 2400;

export const NO_DATE = '0000-00-00';
/** The day on which the simulated company lives if no other is given: no generated date of creation is later. */
export const LAST_DAY = new Date('2025-09-28');

/** A whole number of the smallest unit as decimal text: `fixed(6495, 2)` → `64.95`. */
export function fixed(units: number, places: number): string {
  const digits = String(Math.abs(units)).padStart(places + 1, '0');
  const point = digits.length - places;
  const fraction = places === 0 ? '' : `.${digits.slice(point)}`;
  return `${units < 0 ? '-' : ''}${digits.slice(0, point)}${fraction}`;
}

/** Writes days, counted from the company's first, as `YYYY-MM-DD`; day `DAYS_OPEN` is the last. */
export function datesUntil(lastDay: Date): (day: number) => string {
  return (day) => new Date(lastDay.getTime() + (day - DAYS_OPEN) * DAY_MS).toISOString().slice(0, 10);
}

/** Spreads `count` records evenly over the years, up to the last day: the day of the one at this rank. */
export function dayOf({ rank, count }: { readonly rank: number; readonly count: number }): number {
  return Math.floor(((rank + 1) * DAYS_OPEN) / count);
}

/** Minutes after midnight as `HH:MM:SS`. */
export function timeText(minutes: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:00`;
}

const SHARE_OF_NUMBERS = 0.1;

/** Makes the codes of a list that is sorted by them: some bare numbers with leading zeros, without a name, then names from A to Z. */
export function codesFrom(
  names: readonly string[],
): (rank: number, count: number) => { readonly code: string; readonly name: string | null } {
  const sorted = names
    .map((name) => ({ name, letters: withoutAccents(name).replace(/[^a-z]/gi, '') }))
    .map(({ name, letters }) => ({ name, prefix: letters.slice(0, 4).toUpperCase() }))
    .sort((a, b) => (a.prefix < b.prefix ? -1 : 1));

  return (rank, count) => {
    const number = String(rank + 1).padStart(Math.max(4, String(count).length), '0');
    const numbers = Math.ceil(count * SHARE_OF_NUMBERS);
    const chosen = sorted[Math.floor(((rank - numbers) * sorted.length) / (count - numbers))];
    if (rank < numbers || !chosen) return { code: `00${number}`, name: null };
    return { code: chosen.prefix + number, name: chosen.name };
  };
}

/** The text without accents: as it appears in a code or an address of the web. */
export function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(/\p{Diacritic}/gu, '');
}

/** `Toitures Lévesque & Fils` → `toitures-levesque-fils`. */
export function slug(text: string): string {
  return withoutAccents(text)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

const POSTAL_LETTERS = Array.from('ABCEGHJKLMNPRSTVWXYZ');

export const townOf = (random: Random): Town => random.pick(TOWNS);

export const streetAddress = (random: Random): string =>
  `${random.integer(2, 9800)}, ${random.pick(STREETS)}`;

export const secondLine = (random: Random): string => (random.chance(0.2) ? random.pick(SUITES) : '');

export function postalCode(random: Random, { sortationArea }: Town): string {
  const letter = random.pick(POSTAL_LETTERS);
  return `${sortationArea} ${random.digits(1)}${letter}${random.digits(1)}`;
}

/** A number of the range 555-01xx, which is never assigned. */
export const phone = (random: Random, { areaCode }: Town): string =>
  `(${areaCode}) 555-01${random.digits(2)}`;

export const personName = (random: Random): string => `${random.pick(FIRST_NAMES)} ${random.pick(SURNAMES)}`;

/** Under the domain `.example`, so that no real person is ever written to. */
export const email = (name: string): string => `${slug(name).replace('-', '.')}@courriel.example`;

export const officeEmail = (business: string): string => `info@${slug(business)}.example`;

export const website = (name: string): string => `https://www.${slug(name)}.example`;
