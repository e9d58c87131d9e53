import { compactJson } from '../../src/lib/json/json.ts';
import type { Json, JsonObject } from '../../src/lib/json/json.ts';
import type { World } from '../../src/sandbox/world.ts';
import type { DayOfWork } from '../../scripts/reports/business.ts';

/** Rows of a report as texts, in the order of its columns. */
export type Rows = readonly (readonly (string | null)[])[];

interface Company {
  readonly world: World;
  /** The days with the work of people on them. */
  readonly worked: readonly DayOfWork[];
}

/** The answers of the reports by the sandbox's own data, computed without SQL. */
export const TRUTHS: Readonly<Record<string, (company: Company) => Rows>> = {
  'receivables-by-client': ({ world }) => receivables(world),
  'purchases-by-provider': ({ world }) => purchases(world),
  'hours-by-technician-and-week': ({ world }) => hours(world),
  'bookings-by-month': ({ world }) => bookings(world),
  'changes-by-day': ({ worked }) =>
    worked.map((day) => [
      day.day,
      String(day.created),
      String(day.updated),
      String(day.deleted),
      String(day.restored),
      '0',
    ]),
  'margin-by-product': ({ world }) => margins(world),
};

function receivables(world: World): Rows {
  const active = recordsOf(world, 'projects').filter((project) => textOf(project['active']) === '1');
  const booked = groupedBy(recordsOf(world, 'bookings'), ({ client_id: id }) => idOf(id));
  const planned = groupedBy(active, ({ client_id: id }) => idOf(id));
  const rows = [...new Set([...booked.keys(), ...planned.keys()])].map((id) => {
    const bookings = booked.get(id) ?? [];
    const priceOf = (some: readonly JsonObject[]): bigint => sum(some.map(({ price }) => unitsOf(price)));
    const invoiced = priceOf(bookings.filter((booking) => textOf(booking['fact_number']) !== ''));
    const toInvoice = priceOf(bookings.filter((booking) => textOf(booking['fact_number']) === ''));
    const days = bookings.map(({ pickup_date: day }) => dayOf(day)).filter((day) => day !== null);
    const client = world.get('clients', Number(id));
    const facts = presentTexts(client, ['code', 'name', 'term', 'credit']);
    const counts = [
      String(bookings.length),
      String(planned.get(id)?.length ?? 0),
      days.sort().at(-1) ?? null,
    ];
    return { id, by: invoiced, row: [id, ...facts, ...counts, ...both(invoiced), ...both(toInvoice)] };
  });
  return largestFirst(rows);
}

function purchases(world: World): Rows {
  const lines = groupedBy(recordsOf(world, 'purchase_products'), ({ product_id: id }) =>
    idOf(world.get('products', Number(idOf(id)))?.['provider_id']),
  );
  const rows = [...lines].map(([id, all]) => {
    const isWaiting = (line: JsonObject): boolean => unitsOf(line['produit_quantite_onhold']) !== 0n;
    const total = (some: readonly JsonObject[], field: string): bigint =>
      sum(some.map((line) => unitsOf(line[field])));
    const received = total(
      all.filter((line) => !isWaiting(line)),
      'produit_total',
    );
    const waiting = total(all.filter(isWaiting), 'produit_total');
    const row = [
      id,
      ...presentTexts(world.get('providers', Number(id)), ['code', 'name']),
      String(all.length),
      String(all.filter(isWaiting).length),
      ...[total(all, 'produit_quantite_receive'), total(all, 'produit_quantite_onhold')].map(String),
      ...both(received),
      ...both(waiting),
    ];
    return { id, by: waiting, row };
  });
  return largestFirst(rows);
}

function hours(world: World): Rows {
  const dated = recordsOf(world, 'punches').filter(({ date }) => dayOf(date) !== null);
  const weeks = groupedBy(dated, ({ date, user_id: user }) => `${mondayOf(textOf(date))} ${textOf(user)}`);
  return [...weeks]
    .map(([key, punches]) => {
      const [week = '', user = ''] = key.split(' ');
      const open = punches.filter((punch) => textOf(punch['end_time']) === '').length;
      const units = sum(punches.map(({ ptotal }) => unitsOf(ptotal)));
      return [week, user, String(punches.length), String(open), ...both(units)];
    })
    .sort(([week = '', user], [other = '', another]) =>
      week === other ? Number(user) - Number(another) : week < other ? -1 : 1,
    );
}

const DAY_MS = 86_400_000;

function mondayOf(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  return new Date(date.getTime() - ((date.getUTCDay() + 6) % 7) * DAY_MS).toISOString().slice(0, 10);
}

function bookings(world: World): Rows {
  const months = groupedBy(
    recordsOf(world, 'bookings'),
    ({ pickup_date: day }) => dayOf(day)?.slice(0, 7) ?? 'none',
  );
  return [...months]
    .sort(([month], [other]) => (month < other ? -1 : 1))
    .map(([month, booked]) => {
      const clients = new Set(booked.map(({ client_id: id }) => idOf(id)).filter((id) => id !== '0'));
      const distance = sum(booked.map((booking) => unitsOf(booking['distance'])));
      const price = sum(booked.map((booking) => unitsOf(booking['price'])));
      return [month, String(booked.length), String(clients.size), String(distance), ...both(price)];
    });
}

function margins(world: World): Rows {
  const bought = groupedBy(recordsOf(world, 'purchase_products'), ({ product_id: id }) => idOf(id));
  const rows = [...bought].map(([id, lines]) => {
    const quantity = sum(lines.map((line) => unitsOf(line['product_quantity'])));
    const cost = sum(lines.map((line) => unitsOf(line['produit_total'])));
    const product = world.get('products', Number(id));
    const value = valueAt(product?.['price'], quantity);
    const margin = value === null ? null : value - cost;
    const row = [
      id,
      ...presentTexts(product, ['code', 'name_fr']),
      String(lines.length),
      String(quantity),
      ...both(cost),
      value === null ? null : String(value),
      ...(margin === null ? [null, null] : both(margin)),
    ];
    return { id, by: margin ?? 0n, row };
  });
  return largestFirst(rows);
}

/** A quantity at a price, cut after four places; null without a price, and for what 64 bits may not hold. */
function valueAt(price: Json | undefined, quantity: bigint): bigint | null {
  if (textOf(price) === '') return null;
  const value = (quantity * unitsOf(price)) / 10_000n;
  return value > MOST_VALUE || value < -MOST_VALUE ? null : value;
}

const MOST_VALUE = 4n * 10n ** 18n;

interface RankedRow {
  readonly id: string;
  readonly by: bigint;
  readonly row: readonly (string | null)[];
}

const largestFirst = (rows: readonly RankedRow[]): Rows =>
  [...rows]
    .sort((one, other) =>
      one.by === other.by ? Number(one.id) - Number(other.id) : one.by > other.by ? -1 : 1,
    )
    .map(({ row }) => row);

const recordsOf = (world: World, kind: string): readonly JsonObject[] =>
  world.ids(kind).map((id) => world.get(kind, id) ?? {});

function groupedBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

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

/** A decimal in units of 0.0001, exactly; 0 for none, and for what has no such units. */
function unitsOf(value: Json | undefined): bigint {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(textOf(value)) ?? [];
  if (fraction.length > 4 || BigInt(whole) >= 10n ** 14n) return 0n;
  const units = BigInt(whole + fraction.padEnd(4, '0'));
  return sign === '-' ? -units : units;
}

const sum = (units: readonly bigint[]): bigint => units.reduce((total, one) => total + one, 0n);

/** Units, and the same with the point put in. */
function both(units: bigint): string[] {
  const digits = String(units < 0n ? -units : units).padStart(5, '0');
  return [String(units), `${units < 0n ? '-' : ''}${digits.slice(0, -4)}.${digits.slice(-4)}`];
}
