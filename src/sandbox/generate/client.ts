import type { JsonObject } from '../../lib/json/json.ts';
import { BUSINESS_NAMES, CONTACT_DEPARTMENTS, FIRST_NAMES, JOB_TITLES, SURNAMES } from './vocabulary.ts';
import type { Town } from './vocabulary.ts';
import {
  codesFrom,
  NO_DATE,
  dayOf,
  fixed,
  email,
  officeEmail,
  personName,
  phone,
  placeOf,
  postalCode,
  secondLine,
  streetAddress,
  website,
} from './text-values.ts';
import type { Draw, Random } from './draw.ts';

const MOST_CONTACTS = 3;
const codeAt = codesFrom(SURNAMES);

/** A person or a small business that has its vehicles and buildings looked after (§2.3). */
export function generateClient(draw: Draw): JsonObject {
  const { company, random, id, index, rank, count } = draw;
  const { code, name } = codeAt(rank, count);
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
    ...reachedAt(random, placeOf(random)),
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
  const place = placeOf(random);
  return {
    name,
    ...reachedAt(random, place),
    email: random.chance(0.85) ? officeEmail(name) : '',
    fax: random.chance(0.3) ? phone(random, place) : '',
    website: random.chance(0.5) ? website(name) : '',
    phone_work: phone(random, place),
    credit: fixed(random.integer(0, 60) * 250_00, 2),
    term: random.pick([15, 30, 30, 45, 60]),
    contacts: Array.from({ length: random.integer(0, MOST_CONTACTS) }, (_, at) =>
      contact(random, id * MOST_CONTACTS + at),
    ),
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

function contact(random: Random, id: number): JsonObject {
  const nom = personName(random);
  const place = placeOf(random);
  return {
    id,
    nom,
    fonction: random.pick(JOB_TITLES),
    departement: random.pick(CONTACT_DEPARTMENTS),
    email: random.chance(0.8) ? email(nom) : '',
    telephone: phone(random, place),
    cell: random.chance(0.6) ? phone(random, place) : '',
    fax: '',
  };
}
