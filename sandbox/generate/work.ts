import type { Json, JsonObject } from '../../src/lib/json/json.ts';
import { anyId, type Draw, type Random } from './draw.ts';
import { NO_DATE, dayOf, fixed, personName, phone, townOf, timeText } from './text-values.ts';
import { BRANDS, FIRST_NAMES, FREIGHT, JOBS, NOTES, SURNAMES, TASKS } from './vocabulary.ts';

const MAX_TASKS = 4;

/** A job for a client, or without a client yet (§2.2). */
export function generateProject(draw: Draw): JsonObject {
  const { random, id, index, company } = draw;
  const projectDay = dayOf(draw);
  return {
    id,
    code: random.chance(0.1)
      ? null
      : `P${company.dateOf(projectDay).slice(2, 4)}-${String(index + 1).padStart(5, '0')}`,
    client_id: random.chance(0.08) ? 0 : anyId(draw, 'clients'),
    active: random.chance(0.7) ? 1 : 0,
    nom: `${random.pick(JOBS)} – ${random.pick(BRANDS)}, ${random.pick(SURNAMES)} (${index + 1})`,
    description: random.chance(0.3) ? null : `${random.pick(NOTES)}.`,
    tasks: Array.from({ length: random.integer(0, MAX_TASKS) }, (_, at) => {
      const startDay = projectDay + at * 3;
      const isDone = random.chance(0.6);
      const estimated = random.integer(1, 32) * 25;
      return {
        id: id * MAX_TASKS + at,
        projet_id: id,
        active: isDone ? 0 : 1,
        creation_date: company.dateOf(projectDay),
        title: random.pick(TASKS),
        start_date: company.dateOf(startDay),
        end_date: isDone ? company.dateOf(startDay + random.integer(0, 5)) : NO_DATE,
        status: isDone ? 'done' : random.pick(['todo', 'in_progress']),
        time_estimated: fixed(estimated, 2),
        time_spent: fixed(isDone ? estimated + random.integer(-1, 4) * 25 : 0, 2),
        description: random.chance(0.5) ? '' : `${random.pick(NOTES)}.`,
        comments: random.chance(0.2) ? [{ author: random.pick(FIRST_NAMES), text: random.pick(NOTES) }] : [],
      };
    }),
  };
}

const FIRST_EMPLOYEE = 31;
const EMPLOYEES = 18;

/** Hours that an employee worked (§2.8): `ptotal` is the time between start and end, and 0.00 while the punch is open. */
export function generatePunch(draw: Draw): JsonObject {
  const { random, id, index, company } = draw;
  const start = random.integer(26, 40) * 15;
  const quarters = random.integer(2, 34);
  const isOpen = random.chance(0.03);
  return {
    id,
    appointment_id: random.chance(0.2) ? 0 : company.idOf('appointments', Math.floor(index / 2)),
    user_id: FIRST_EMPLOYEE + random.integer(0, EMPLOYEES - 1),
    date: company.dateOf(dayOf(draw)),
    start_time: timeText(start),
    end_time: isOpen ? missingTime(random) : timeText(start + quarters * 15),
    ptotal: fixed(isOpen ? 0 : quarters * 25, 2),
    note: random.chance(0.6) ? null : `${random.pick(NOTES)}.`,
    system_id: company.systemId,
  };
}

/** No time is null by the documentation, and now and then an empty text in the wild. */
const missingTime = (random: Random): Json => (random.chance(0.3) ? '' : null);

const MAX_ITEMS = 3;
const UNDATED_SHARE = 0.02; // The first bookings came from an older system, without a day: they end the list.

/** A transport order (§2.11: no field is shown; these were seen in the wild); `price` is the sum of its items. */
export function generateBooking(draw: Draw): JsonObject {
  const { company, random, id, index } = draw;
  const place = townOf(random);
  const day = dayOf(draw);
  const pickup = pickupDate(draw);
  const items = Array.from({ length: random.integer(1, MAX_ITEMS) }, (_, at) => {
    const number = random.integer(1, 6);
    const value = random.integer(40, 900) * 25;
    const centimetres = (): string => fixed(random.integer(30, 240) * 100, 2);
    const fields = {
      id: id * MAX_ITEMS + at,
      booking_id: id,
      description: random.pick(FREIGHT),
      value: fixed(value, 2),
      length: centimetres(),
      width: centimetres(),
      height: centimetres(),
      number: fixed(number * 100, 2),
      weight: fixed(random.integer(5, 900) * 100, 2),
      total: fixed(number * value, 2),
      details: random.chance(0.3) ? `${random.pick(NOTES)}.` : '',
    };
    return { cents: number * value, fields };
  });
  const cents = items.reduce((sum, item) => sum + item.cents, 0);
  return {
    id,
    code: `R${String(index + 1).padStart(6, '0')}`,
    inactive: random.chance(0.05) ? 1 : 0,
    pickup_date: pickup,
    delivery_date:
      pickup === NO_DATE || random.chance(0.2) ? NO_DATE : company.dateOf(day + random.integer(0, 4)),
    client_id: random.chance(0.05) ? 0 : anyId(draw, 'clients'),
    contact: personName(random),
    contact_phone: phone(random, place),
    contact_fax: random.chance(0.1) ? phone(random, place) : '',
    distance: fixed(random.integer(4, 640) * 100 + random.integer(0, 9) * 10, 2),
    po_num: random.chance(0.6) ? `00${random.digits(4)}` : '',
    comm_num: random.chance(0.3) ? `C${random.digits(5)}` : '',
    bol_num: random.chance(0.5) ? `BOL-${random.digits(6)}` : '',
    fact_number: random.chance(0.7) ? `F${random.digits(6)}` : null,
    price: fixed(cents, 2),
    creation_date: company.dateOf(day - random.integer(1, 14)),
    items: items.map(({ fields }) => fields),
  };
}

/** The day that bookings are sorted by (§4.10), null without one: it never falls as the rank rises. */
export function pickupDay(at: { readonly rank: number; readonly count: number }): number | null {
  return at.rank < Math.floor(at.count * UNDATED_SHARE) ? null : dayOf(at);
}

export function pickupDate(draw: Draw): string {
  const day = pickupDay(draw);
  return day === null ? NO_DATE : draw.company.dateOf(day);
}
