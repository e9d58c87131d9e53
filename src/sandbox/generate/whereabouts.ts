import type { Random } from '../random.ts';
import { FIRST_NAMES, SURNAMES, PLACES, STREETS, SUITES } from '../vocabulary/people-and-places.ts';
import { slug } from '../vocabulary/words.ts';
import type { Town } from '../vocabulary/people-and-places.ts';

const POSTAL_LETTERS = Array.from('ABCEGHJKLMNPRSTVWXYZ');

export const placeOf = (random: Random): Town => random.pick(PLACES);

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
