import { LosslessNumber } from 'lossless-json';
import type { JsonObject } from '../../lib/json/json.ts';
import { SUPPLIERS } from './vocabulary.ts';
import {
  codesFrom,
  NO_DATE,
  dayOf,
  fixed,
  officeEmail,
  phone,
  placeOf,
  postalCode,
  secondLine,
  streetAddress,
  website,
} from './text-values.ts';
import type { Draw } from './draw.ts';

const codeAt = codesFrom(SUPPLIERS);

/** A supplier of parts and materials (§2.4); `credit` is a JSON number here, with its places: `1250.50`. */
export function generateProvider({ company, random, id, index, rank, count }: Draw): JsonObject {
  const { code, name: supplier } = codeAt(rank, count);
  const place = placeOf(random);
  const name = `${supplier ?? random.pick(SUPPLIERS)} ${random.pick(['inc.', 'ltée', 'Québec inc.'])}`;
  return {
    id,
    code,
    name,
    inactive: random.chance(0.05) ? 1 : 0,
    creation_date: random.chance(0.03) ? NO_DATE : company.dateOf(dayOf({ rank: index, count })),
    address: streetAddress(random),
    address2: secondLine(random),
    city: place.city,
    state: 'QC',
    zipcode: postalCode(random, place),
    phone: phone(random, place),
    fax: random.chance(0.4) ? phone(random, place) : null,
    email: random.chance(0.9) ? officeEmail(name) : null,
    website: random.chance(0.7) ? website(name) : null,
    term: random.chance(0.85) ? random.pick([10, 30, 30, 45]) : null,
    credit: random.chance(0.2) ? null : new LosslessNumber(creditText(random.integer(0, 200) * 125_25)),
  };
}

const creditText = (cents: number): string => (cents % 100 === 0 ? String(cents / 100) : fixed(cents, 2));
