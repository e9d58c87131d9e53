import { FIRST_DAY, type DayOfWork } from '../../scripts/reports/business.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';
import type { World } from '../../sandbox/world.ts';
import {
  currencyOf,
  duplicateClients,
  isBought,
  hoursWorkedAndBilled,
  purchasesByMonth,
  receivablesByAge,
  saleMargins,
  salesByMonth,
  usualCurrencies,
} from './shop-truth.ts';
import { daysToPay, repeatCustomers, taxesByQuarter, yearOnYear } from './owner-truth.ts';
import {
  DAY_MS,
  ZERO,
  both,
  dayOf,
  groupedBy,
  idOf,
  largestFirst,
  mondayOf,
  monthOf,
  presentTexts,
  recordsOf,
  sorted,
  sum,
  textOf,
  textOfUnits,
  unitsOf,
  valueAt,
  type Amount,
  type Rows,
} from './values.ts';

interface Company {
  readonly world: World;
  /** The days with the work of people on them. */
  readonly worked: readonly DayOfWork[];
  /** Whether the mirror reads purchases: without them, no status of a purchase line is known. */
  readonly hasPurchases: boolean;
}

/** The answers of the reports by the sandbox's own data, computed by Decimals and without SQL. */
export const TRUTHS: Readonly<Record<string, (company: Company) => Rows>> = {
  'receivables-by-client': ({ world }) => receivables(world),
  'bookings-by-month': ({ world }) => bookings(world),
  'bookings-ahead': ({ world, worked }) => ahead(world, worked.at(-1)?.day ?? ''),
  'new-and-lost-clients': newAndLost,
  'purchases-by-provider': purchases,
  'margin-by-product': margins,
  'price-changes': ({ world, worked }) => priceChanges(world, worked),
  'hours-by-technician-and-week': ({ world }) => hours(world),
  'open-punches': ({ world }) => openPunches(world),
  'duplicate-clients': ({ world }) => duplicateClients(world),
  'changes-after-closing': () => [],
  'sales-by-month': ({ world }) => salesByMonth(world),
  'receivables-by-age': ({ world }) => receivablesByAge(world),
  'purchases-by-month': ({ world }) => purchasesByMonth(world),
  'margin-by-sale-line': ({ world }) => saleMargins(world),
  'hours-worked-and-billed': ({ world }) => hoursWorkedAndBilled(world),
  'changes-after-closing-of-sales': () => [],
  'taxes-by-quarter': ({ world }) => taxesByQuarter(world),
  'days-to-pay': ({ world }) => daysToPay(world),
  'repeat-customers': ({ world }) => repeatCustomers(world),
  'year-on-year': ({ world }) => yearOnYear(world),
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

/** The company that a record names, or else its client. */
function companyOf(world: World, record: JsonObject): string {
  const own = record['system_id'] ?? world.get('clients', Number(idOf(record['client_id'])))?.['system_id'];
  return idOf(own);
}

function receivables(world: World): Rows {
  const active = recordsOf(world, 'projects').filter((project) => textOf(project['active']) === '1');
  const booked = groupedBy(
    recordsOf(world, 'bookings'),
    (one) => `${companyOf(world, one)} ${idOf(one['client_id'])}`,
  );
  const planned = groupedBy(active, (one) => `${companyOf(world, one)} ${idOf(one['client_id'])}`);
  const rows = [...new Set([...booked.keys(), ...planned.keys()])].map((key) => {
    const [company = '', id = ''] = key.split(' ');
    const bookings = booked.get(key);
    const [invoiced, toInvoice] = [true, false].map((which) =>
      bookings === undefined ? ZERO : sum(pricesOf(bookings, which)),
    ) as [Amount, Amount];
    const days = (bookings ?? []).map(({ pickup_date: day }) => dayOf(day)).filter((day) => day !== null);
    const facts = presentTexts(world.get('clients', Number(id)), ['code', 'name', 'term', 'credit']);
    const counts = [bookings?.length ?? 0, planned.get(key)?.length ?? 0].map(String);
    const row = [
      company,
      id,
      ...facts,
      ...counts,
      days.sort().at(-1) ?? null,
      ...both(invoiced),
      ...both(toInvoice),
    ];
    return { id: key, by: invoiced, row };
  });
  return largestFirst(rows);
}

function bookings(world: World): Rows {
  const months = groupedBy(
    recordsOf(world, 'bookings'),
    (one) => `${monthOf(one['pickup_date'])} ${companyOf(world, one)}`,
  );
  return sorted(months).map(([key, booked]) => [
    ...key.split(' '),
    ...countsOf(booked),
    textOfUnits(sum(booked.map((booking) => unitsOf(booking['distance'])))),
    ...both(sum(booked.map((booking) => unitsOf(booking['price'])))),
    ...both(sum(pricesOf(booked, true))),
  ]);
}

function ahead(world: World, from: string): Rows {
  const later = recordsOf(world, 'bookings').filter(({ pickup_date: day }) => (dayOf(day) ?? '') >= from);
  const weeks = groupedBy(later, (one) => `${mondayOf(textOf(one['pickup_date']))} ${companyOf(world, one)}`);
  return sorted(weeks).map(([key, booked]) => [
    ...key.split(' '),
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
    month: `${monthOf(client['creation_date'])} ${companyOf(world, client)}`,
    counts: [1, 0, 0],
  }));
  const moved = worked
    .filter(({ deleted, restored }) => deleted + restored > 0)
    .map(({ day, deleted, restored }) => ({ month: `${day.slice(0, 7)} 0`, counts: [0, deleted, restored] }));
  return sorted(groupedBy([...created, ...moved], ({ month }) => month)).map(([key, found]) => [
    ...key.split(' '),
    ...[0, 1, 2].map((at) => String(found.reduce((total, { counts }) => total + (counts[at] ?? 0), 0))),
  ]);
}

/** The purchase lines that count. */
const linesBought = ({ world, hasPurchases }: Company): readonly JsonObject[] =>
  recordsOf(world, 'purchase_products').filter(
    ({ purchase_id: id }) => !hasPurchases || isBought(world.get('purchases', Number(idOf(id)))),
  );

const currencyOfLine = ({ world, hasPurchases }: Company, { purchase_id: id }: JsonObject): string =>
  hasPurchases ? currencyOf(world.get('purchases', Number(idOf(id)))) : 'none';

function purchases(company: Company): Rows {
  const { world } = company;
  const lines = groupedBy(linesBought(company), (line) => {
    const product = world.get('products', Number(idOf(line['product_id'])));
    return `${idOf(line['system_id'])} ${idOf(product?.['provider_id'])} ${currencyOfLine(company, line)}`;
  });
  const rows = [...lines].map(([key, all]) => {
    const [company = '', id = '', currency = ''] = key.split(' ');
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
      company,
      id,
      'bought',
      currency,
      ...presentTexts(world.get('providers', Number(id)), ['code', 'name']),
      String(all.length),
      known.length === 0 ? null : String(known.filter(({ onHold }) => onHold?.eq(0) === false).length),
      ...['produit_quantite_receive', 'produit_quantite_onhold'].map((name) =>
        textOfUnits(sum(all.map((line) => unitsOf(line[name])))),
      ),
      ...both(totalOf(false)),
      ...both(totalOf(true)),
    ];
    return { id: key, by: totalOf(true), row };
  });
  return largestFirst(rows);
}

function margins(company: Company): Rows {
  const { world } = company;
  const all = linesBought(company).map((line) => ({
    line,
    company: idOf(line['system_id']),
    currency: currencyOfLine(company, line),
  }));
  const usual = usualCurrencies(all);
  const bought = groupedBy(
    all,
    ({ line, company, currency }) => `${company} ${idOf(line['product_id'])} ${currency}`,
  );
  const rows = [...bought].map(([key, found]) => {
    const [company = '', id = '', currency = ''] = key.split(' ');
    const lines = found.map(({ line }) => line);
    const quantity = sum(lines.map((line) => unitsOf(line['product_quantity'])));
    const cost = sum(lines.map((line) => unitsOf(line['produit_total'])));
    const product = world.get('products', Number(id));
    const price = usual.get(company) === currency ? unitsOf(product?.['price']) : null;
    const value = valueAt(price, quantity);
    const margin = value === null || cost === null ? null : value.minus(cost);
    const row = [
      company,
      id,
      'bought',
      currency,
      ...presentTexts(product, ['code', 'name_fr']),
      FIRST_DAY.slice(0, 7), // All lines are read then.
      String(lines.length),
      textOfUnits(quantity),
      ...both(cost),
      textOfUnits(value),
      ...both(margin),
    ];
    return { id: key, by: margin, row };
  });
  return largestFirst(rows);
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
      idOf(world.get('products', id)?.['system_id']),
      String(id),
      ...presentTexts(world.get('products', id), ['code', 'name_fr']),
      ...both(before),
      ...both(after),
      ...[rose > 0, rose < 0].map((is) => (is ? '1' : '0')),
    ];
  });
}

function hours(world: World): Rows {
  const weeks = groupedBy(recordsOf(world, 'punches'), ({ date, user_id: user, system_id: company }) => {
    const day = dayOf(date);
    const week = day === null || day < '2000-01-03' || day >= '2050' ? 'none' : mondayOf(day);
    return `${week} ${idOf(company)} ${textOf(user)}`;
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
    ({ date, user_id: user, system_id: company }) =>
      `${dayOf(date) ?? 'none'} ${idOf(company)} ${textOf(user)}`,
  );
  return sorted(open).map(([key, punches]) => {
    const [day = '', company = '', user = ''] = key.split(' ');
    const isKnown = day >= '2000' && day < '2050';
    const days = (Date.parse(FIRST_DAY) - Date.parse(day)) / DAY_MS;
    return [company, user, day, String(punches.length), isKnown ? String(days) : null];
  });
}
