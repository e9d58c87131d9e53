import { Big } from 'big.js';
import { FIRST_DAY, type DayOfWork } from '../../scripts/reports/business.ts';
import { compactJson, type Json, type JsonObject } from '../../src/lib/json/json.ts';
import type { World } from '../../sandbox/world.ts';

/** Rows of a report as texts, in the order of its columns. */
export type Rows = readonly (readonly (string | null)[])[];

interface Company {
  readonly world: World;
  /** The days with the work of people on them. */
  readonly worked: readonly DayOfWork[];
}

/** The answers of the reports by the sandbox's own data, computed by Decimals and without SQL. */
export const TRUTHS: Readonly<Record<string, (company: Company) => Rows>> = {
  'receivables-by-client': ({ world }) => receivables(world),
  'bookings-by-month': ({ world }) => bookings(world),
  'bookings-ahead': ({ world, worked }) => ahead(world, worked.at(-1)?.day ?? ''),
  'new-and-lost-clients': newAndLost,
  'purchases-by-provider': ({ world }) => purchases(world),
  'margin-by-product': ({ world }) => margins(world),
  'price-changes': ({ world, worked }) => priceChanges(world, worked),
  'hours-by-technician-and-week': ({ world }) => hours(world),
  'open-punches': ({ world }) => openPunches(world),
  'changes-by-day': ({ worked }) =>
    worked.map((day) => [day.day, ...[day.created, day.updated, day.deleted, day.restored, 0].map(String)]),
};

const isInvoiced = ({ fact_number: number }: JsonObject): boolean => textOf(number) !== '';

/** The prices of bookings, 0 for those of the other sort. */
const pricesOf = (bookings: readonly JsonObject[], invoiced: boolean): readonly Amount[] =>
  bookings.map((booking) => {
    const price = unitsOf(booking['price']);
    return price !== null && isInvoiced(booking) !== invoiced ? ZERO : price;
  });

function receivables(world: World): Rows {
  const active = recordsOf(world, 'projects').filter((project) => textOf(project['active']) === '1');
  const booked = groupedBy(recordsOf(world, 'bookings'), ({ client_id: id }) => idOf(id));
  const planned = groupedBy(active, ({ client_id: id }) => idOf(id));
  const rows = [...new Set([...booked.keys(), ...planned.keys()])].map((id) => {
    const bookings = booked.get(id);
    const [invoiced, toInvoice] = [true, false].map((which) =>
      bookings === undefined ? ZERO : sum(pricesOf(bookings, which)),
    ) as [Amount, Amount];
    const days = (bookings ?? []).map(({ pickup_date: day }) => dayOf(day)).filter((day) => day !== null);
    const facts = presentTexts(world.get('clients', Number(id)), ['code', 'name', 'term', 'credit']);
    const counts = [bookings?.length ?? 0, planned.get(id)?.length ?? 0].map(String);
    const row = [id, ...facts, ...counts, days.sort().at(-1) ?? null, ...both(invoiced), ...both(toInvoice)];
    return { id, by: invoiced, row };
  });
  return largestFirst(rows);
}

const monthOf = (value: Json | undefined): string => dayOf(value)?.slice(0, 7) ?? 'none';

function bookings(world: World): Rows {
  const months = groupedBy(recordsOf(world, 'bookings'), ({ pickup_date: day }) => monthOf(day));
  return sorted(months).map(([month, booked]) => [
    month,
    ...countsOf(booked),
    textOfUnits(sum(booked.map((booking) => unitsOf(booking['distance'])))),
    ...both(sum(booked.map((booking) => unitsOf(booking['price'])))),
    ...both(sum(pricesOf(booked, true))),
  ]);
}

function ahead(world: World, from: string): Rows {
  const later = recordsOf(world, 'bookings').filter(({ pickup_date: day }) => (dayOf(day) ?? '') >= from);
  const weeks = groupedBy(later, ({ pickup_date: day }) => mondayOf(textOf(day)));
  return sorted(weeks).map(([week, booked]) => [
    week,
    ...countsOf(booked),
    ...both(sum(booked.map((booking) => unitsOf(booking['price'])))),
  ]);
}

/** How many bookings, and of how many clients. */
function countsOf(bookings: readonly JsonObject[]): readonly string[] {
  const clients = new Set(bookings.map(({ client_id: id }) => idOf(id)).filter((id) => id !== '0'));
  return [bookings.length, clients.size].map(String);
}

function newAndLost({ world, worked }: Company): Rows {
  const created = recordsOf(world, 'clients').map((client) => ({
    month: monthOf(client['creation_date']),
    counts: [1, 0, 0],
  }));
  const moved = worked
    .filter(({ deleted, restored }) => deleted + restored > 0)
    .map(({ day, deleted, restored }) => ({ month: day.slice(0, 7), counts: [0, deleted, restored] }));
  return sorted(groupedBy([...created, ...moved], ({ month }) => month)).map(([month, found]) => [
    month,
    ...[0, 1, 2].map((at) => String(found.reduce((total, { counts }) => total + (counts[at] ?? 0), 0))),
  ]);
}

function purchases(world: World): Rows {
  const lines = groupedBy(recordsOf(world, 'purchase_products'), ({ product_id: id }) =>
    idOf(world.get('products', Number(idOf(id)))?.['provider_id']),
  );
  const rows = [...lines].map(([id, all]) => {
    const known = all
      .map((line) => ({ line, onHold: unitsOf(line['produit_quantite_onhold']) }))
      .filter(({ onHold }) => onHold !== null);
    const totalOf = (waits: boolean): Amount =>
      sum(
        known.map(({ line, onHold }) => {
          const total = unitsOf(line['produit_total']);
          return total !== null && onHold?.eq(0) === waits ? ZERO : total;
        }),
      );
    const row = [
      id,
      ...presentTexts(world.get('providers', Number(id)), ['code', 'name']),
      String(all.length),
      known.length === 0 ? null : String(known.filter(({ onHold }) => onHold?.eq(0) === false).length),
      ...['produit_quantite_receive', 'produit_quantite_onhold'].map((name) =>
        textOfUnits(sum(all.map((line) => unitsOf(line[name])))),
      ),
      ...both(totalOf(false)),
      ...both(totalOf(true)),
    ];
    return { id, by: totalOf(true), row };
  });
  return largestFirst(rows);
}

function margins(world: World): Rows {
  const bought = groupedBy(recordsOf(world, 'purchase_products'), ({ product_id: id }) => idOf(id));
  const rows = [...bought].map(([id, lines]) => {
    const quantity = sum(lines.map((line) => unitsOf(line['product_quantity'])));
    const cost = sum(lines.map((line) => unitsOf(line['produit_total'])));
    const product = world.get('products', Number(id));
    const value = valueAt(unitsOf(product?.['price']), quantity);
    const margin = value === null || cost === null ? null : value.minus(cost);
    const row = [
      id,
      ...presentTexts(product, ['code', 'name_fr']),
      FIRST_DAY.slice(0, 7), // All lines are read then.
      String(lines.length),
      textOfUnits(quantity),
      ...both(cost),
      textOfUnits(value),
      ...both(margin),
    ];
    return { id, by: margin, row };
  });
  return largestFirst(rows);
}

/** A quantity at a price, cut after four places; null without either, and for what 64 bits may not hold. */
function valueAt(price: Amount, quantity: Amount): Amount {
  if (price === null || quantity === null) return null;
  const value = quantity.times(price).div(10_000).round(0, Big.roundDown);
  return value.abs().gt('4e18') ? null : value;
}

function priceChanges(world: World, worked: readonly DayOfWork[]): Rows {
  const changes = worked.flatMap(({ day, prices }) =>
    prices.toSorted((one, other) => one.id - other.id).map((change) => ({ day, ...change })),
  );
  return changes.map(({ day, id, from, to }) => {
    const before = unitsOf(from);
    const after = unitsOf(to);
    const rose = before === null || after === null ? 0 : after.cmp(before);
    return [
      day,
      String(id),
      ...presentTexts(world.get('products', id), ['code', 'name_fr']),
      ...both(before),
      ...both(after),
      ...[rose > 0, rose < 0].map((is) => (is ? '1' : '0')),
    ];
  });
}

function hours(world: World): Rows {
  const weeks = groupedBy(recordsOf(world, 'punches'), ({ date, user_id: user }) => {
    const day = dayOf(date);
    return `${day === null || day < '2000-01-03' || day >= '2050' ? 'none' : mondayOf(day)} ${textOf(user)}`;
  });
  return sorted(weeks).map(([key, punches]) => [
    ...key.split(' '),
    String(punches.length),
    String(punches.filter(isOpen).length),
    ...both(sum(punches.map(({ ptotal }) => unitsOf(ptotal)))),
  ]);
}

const isOpen = ({ end_time: end }: JsonObject): boolean => textOf(end) === '';

function openPunches(world: World): Rows {
  const open = groupedBy(
    recordsOf(world, 'punches').filter(isOpen),
    ({ date, user_id: user }) => `${dayOf(date) ?? 'none'} ${textOf(user)}`,
  );
  return sorted(open).map(([key, punches]) => {
    const [day = '', user = ''] = key.split(' ');
    const isKnown = day >= '2000' && day < '2050';
    const days = (Date.parse(FIRST_DAY) - Date.parse(day)) / DAY_MS;
    return [user, day, String(punches.length), isKnown ? String(days) : null];
  });
}

const DAY_MS = 86_400_000;

function mondayOf(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  return new Date(date.getTime() - ((date.getUTCDay() + 6) % 7) * DAY_MS).toISOString().slice(0, 10);
}

interface RankedRow {
  readonly id: string;
  readonly by: Amount;
  readonly row: readonly (string | null)[];
}

const largestFirst = (rows: readonly RankedRow[]): Rows =>
  [...rows]
    .sort((one, other) => (other.by ?? ZERO).cmp(one.by ?? ZERO) || Number(one.id) - Number(other.id))
    .map(({ row }) => row);

const recordsOf = (world: World, kind: string): readonly JsonObject[] =>
  world.ids(kind).map((id) => world.get(kind, id) ?? {});

function groupedBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

/** Groups in the order of their names. */
const sorted = <T>(groups: ReadonlyMap<string, T>): [string, T][] =>
  [...groups].sort(([one], [other]) => (one < other ? -1 : 1));

/** A value as text, as it was sent; empty for none. */
const textOf = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : compactJson(value);

/** Values as they were sent; null for none, and without a record. */
const presentTexts = (record: JsonObject | undefined, names: readonly string[]): (string | null)[] =>
  names.map((name) => {
    const value = record?.[name];
    return value === undefined || value === null ? null : textOf(value);
  });

/** The id that a reference names; `0` for none. */
const idOf = (value: Json | undefined): string => (/^[1-9]\d*$/.test(textOf(value)) ? textOf(value) : '0');

const dayOf = (value: Json | undefined): string | null =>
  /^\d{4}-(?!00)/.test(textOf(value)) ? textOf(value) : null;

/** Units of 0.0001; null: not known. */
type Amount = Big | null;

const ZERO = new Big(0);

/** A decimal in units of 0.0001; null for none, and for what has no such units. */
function unitsOf(value: Json | undefined): Amount {
  if (!/^-?\d+(\.\d{1,4})?$/.test(textOf(value))) return null;
  const units = new Big(textOf(value)).times(10_000);
  return units.abs().lt('1e18') ? units : null;
}

/** The sum of the ones that are known; null if none is. */
const sum = (amounts: readonly Amount[]): Amount =>
  amounts.reduce((total, one) => (one === null ? total : (total ?? ZERO).plus(one)), null);

const textOfUnits = (units: Amount): string | null => units?.toFixed(0) ?? null;

/** Units, and the same with the point put in. */
const both = (units: Amount): (string | null)[] => [
  textOfUnits(units),
  units?.div(10_000).toFixed(4) ?? null,
];
