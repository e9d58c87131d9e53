import type { JsonObject } from '../../lib/json/json.ts';
import { FREIGHT, NOTES } from './vocabulary.ts';
import { anyId } from './draw.ts';
import type { Draw, Random } from './draw.ts';
import { NO_DATE, dayOf, fixed, personName, phone, placeOf } from './text-values.ts';

const MOST_ITEMS = 3;
const UNDATED_SHARE = 0.02; // The first bookings came from an older system, without a day: they end the list.

/** A transport order (§2.11: no field is shown; these were seen in the wild); `price` is the sum of its items. */
export function generateBooking(draw: Draw): JsonObject {
  const { company, random, id, index } = draw;
  const place = placeOf(random);
  const day = dayOf(draw);
  const pickup = pickupDate(draw);
  const items = Array.from({ length: random.integer(1, MOST_ITEMS) }, (_, at) => itemOf(draw, at));
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
    ...papersOf(random),
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

function papersOf(random: Random): JsonObject {
  return {
    po_num: random.chance(0.6) ? `00${random.digits(4)}` : '',
    comm_num: random.chance(0.3) ? `C${random.digits(5)}` : '',
    bol_num: random.chance(0.5) ? `BOL-${random.digits(6)}` : '',
    fact_number: random.chance(0.7) ? `F${random.digits(6)}` : null,
  };
}

function itemOf({ random, id }: Draw, at: number): { readonly cents: number; readonly fields: JsonObject } {
  const number = random.integer(1, 6);
  const value = random.integer(40, 900) * 25;
  const centimetres = (): string => fixed(random.integer(30, 240) * 100, 2);
  const fields = {
    id: id * MOST_ITEMS + at,
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
}
