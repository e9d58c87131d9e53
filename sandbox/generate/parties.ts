import { LosslessNumber } from 'lossless-json';
import type { JsonObject } from '../../src/lib/json/json.ts';
import type { Draw, Random } from './draw.ts';
import {
  NO_DATE,
  codesFrom,
  dayOf,
  email,
  fixed,
  officeEmail,
  personName,
  phone,
  townOf,
  postalCode,
  secondLine,
  streetAddress,
  website,
} from './text-values.ts';
import {
  BUSINESS_NAMES,
  CONTACT_DEPARTMENTS,
  FIRST_NAMES,
  JOB_TITLES,
  SUPPLIERS,
  SURNAMES,
  type Town,
} from './vocabulary.ts';

const MAX_CONTACTS = 3;
const surnameAt = codesFrom(SURNAMES);

/** A person or a small business that has its vehicles and buildings looked after (§2.3). */
export function generateClient(draw: Draw): JsonObject {
  const { company, random, id, index, rank, count } = draw;
  const { code, name } = surnameAt(rank, count);
  const surname = name ?? random.pick(SURNAMES);
  return {
    id,
    code,
    inactive: random.chance(0.06) ? 1 : 0,
    creation_date: random.chance(0.02) ? NO_DATE : company.dateOf(dayOf({ rank: index, count })),
    state: 'QC',
    ...(random.chance(0.45) ? businessNamed(surname, draw) : personNamed(surname, draw)),
  };
}

function personNamed(surname: string, { random }: Draw): JsonObject {
  const name = `${random.pick(FIRST_NAMES)} ${surname}`;
  return {
    name,
    ...reachedAt(random, townOf(random)),
    email: random.chance(0.85) ? email(name) : '',
    fax: '',
    website: '',
    phone_work: '',
    credit: fixed(0, 2),
    term: 0,
    contacts: [],
  };
}

function businessNamed(surname: string, { random, id }: Draw): JsonObject {
  const name = random.pick(BUSINESS_NAMES).replace('*', surname);
  const place = townOf(random);
  return {
    name,
    ...reachedAt(random, place),
    email: random.chance(0.85) ? officeEmail(name) : '',
    fax: random.chance(0.3) ? phone(random, place) : '',
    website: random.chance(0.5) ? website(name) : '',
    phone_work: phone(random, place),
    credit: fixed(random.integer(0, 60) * 250_00, 2),
    term: random.pick([15, 30, 30, 45, 60]),
    contacts: Array.from({ length: random.integer(0, MAX_CONTACTS) }, (_, at) => {
      const nom = personName(random);
      const town = townOf(random);
      return {
        id: id * MAX_CONTACTS + at,
        nom,
        fonction: random.pick(JOB_TITLES),
        departement: random.pick(CONTACT_DEPARTMENTS),
        email: random.chance(0.8) ? email(nom) : '',
        telephone: phone(random, town),
        cell: random.chance(0.6) ? phone(random, town) : '',
        fax: '',
      };
    }),
  };
}

function reachedAt(random: Random, place: Town): JsonObject {
  return {
    address: streetAddress(random),
    adresse2: secondLine(random),
    city: place.city,
    zipcode: postalCode(random, place),
    phone: phone(random, place),
    phone2: random.chance(0.2) ? phone(random, place) : '',
  };
}

const supplierAt = codesFrom(SUPPLIERS);

/** A supplier of parts and materials (§2.4); `credit` is a JSON number here, with its places: `1250.50`. */
export function generateProvider({ company, random, id, index, rank, count }: Draw): JsonObject {
  const { code, name: supplier } = supplierAt(rank, count);
  const place = townOf(random);
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
