import { Big } from 'big.js';
import { FIRST_DAY } from '../../scripts/reports/business.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';
import type { World } from '../../sandbox/world.ts';
import { currencyOf, isBought, isSold, salesOf, statusOf } from './shop-truth.ts';
import {
  DAY_MS,
  ZERO,
  both,
  dayOf,
  groupedBy,
  idOf,
  isInCalendar,
  largestFirst,
  monthOf,
  presentTexts,
  recordsOf,
  sorted,
  sum,
  textOfUnits,
  unitsOf,
  type Amount,
  type Rows,
} from './values.ts';

const quarterOf = (record: JsonObject): string => {
  const month = monthOf(record['date']);
  return month === 'none' ? month : `${month.slice(0, 4)}-Q${Math.ceil(Number(month.slice(5)) / 3)}`;
};

export function taxesByQuarter(world: World): Rows {
  const counted = [
    ...recordsOf(world, 'sales')
      .filter((sale) => isSold(statusOf(sale)))
      .map((record) => ({ record, kind: 'sales|sold|none' })),
    ...recordsOf(world, 'purchases')
      .filter(isBought)
      .map((record) => ({ record, kind: `purchases|bought|${currencyOf(record)}` })),
  ];
  const quarters = groupedBy(
    counted,
    ({ record, kind }) => `${quarterOf(record)}|${idOf(record['system_id'])}|${kind}`,
  );
  return sorted(quarters).map(([key, found]) => {
    const taxes = (of: string): Amount =>
      sum(found.map(({ record, kind }) => (kind.startsWith(of) ? unitsOf(record['taxes']) : null)));
    return [
      ...key.split('|'),
      String(found.length),
      textOfUnits(sum(found.map(({ record }) => unitsOf(record['subtotal'])))),
      ...both(taxes('sales')),
      ...both(taxes('purchases')),
    ];
  });
}

export function daysToPay(world: World): Rows {
  const payments = groupedBy(recordsOf(world, 'sales_payments'), ({ invoice_id: id }) => idOf(id));
  const waited = salesOf(world).flatMap((sale) => {
    if (!isSold(sale.status) || sale.total?.gt(0) !== true || sale.day === null || !isInCalendar(sale.day))
      return [];
    let paid = ZERO;
    const days = groupedBy(payments.get(sale.id) ?? [], (payment) => dayOf(payment['date_payment']) ?? '');
    for (const [day, ofDay] of sorted(days)) {
      paid = paid.plus(sum(ofDay.map(({ amount }) => unitsOf(amount))) ?? ZERO);
      if (paid.lt(sale.total)) continue;
      return isInCalendar(day) ? [{ ...sale, days: (Date.parse(day) - Date.parse(sale.day)) / DAY_MS }] : [];
    }
    return [];
  });
  const clients = groupedBy(waited, ({ company, client }) => `${company} ${client}`);
  const rows = [...clients].map(([key, sales]) => {
    const [company = '', client = ''] = key.split(' ');
    const days = sales.reduce((total, sale) => total + sale.days, 0);
    const mean = new Big(days).div(sales.length).round(4, Big.roundDown).toFixed(4);
    const facts = presentTexts(world.get('clients', Number(client)), ['code', 'name']);
    const row = [company, client, 'owed', ...facts, String(sales.length), String(days), mean];
    return { id: key, by: new Big(days), row };
  });
  return largestFirst(rows);
}

export function repeatCustomers(world: World): Rows {
  const ofClients = salesOf(world).filter(({ status, client }) => isSold(status) && client !== '0');
  const ranked = [...groupedBy(ofClients, ({ company, client }) => `${company} ${client}`).values()].flatMap(
    (sales) =>
      sales
        .toSorted(
          (one, other) => (one.day ?? '').localeCompare(other.day ?? '') || Number(one.id) - Number(other.id),
        )
        .map((sale, at) => ({ ...sale, isRepeat: at > 0 })),
  );
  const months = groupedBy(ranked, ({ day, company }) => `${monthOf(day)}|${company}|sold`);
  const clientsOf = (sales: typeof ranked): string => String(new Set(sales.map(({ client }) => client)).size);
  return sorted(months).map(([key, sales]) => {
    const repeats = sales.filter(({ isRepeat }) => isRepeat);
    return [
      ...key.split('|'),
      clientsOf(sales),
      clientsOf(repeats),
      String(sales.length),
      String(repeats.length),
      textOfUnits(sum(sales.map(({ total }) => total))),
      ...both(sum(sales.map(({ total, isRepeat }) => (total === null || isRepeat ? total : ZERO)))),
    ];
  });
}

export function yearOnYear(world: World): Rows {
  const counted = salesOf(world).flatMap((sale) => {
    if (!isSold(sale.status) || sale.day === null) return [];
    const later = `${Number(sale.day.slice(0, 4)) + 1}${sale.day.slice(4).replace('-02-29', '-02-28')}`;
    const before = later <= FIRST_DAY ? [{ ...sale, day: later, isNow: false }] : [];
    return [{ ...sale, day: sale.day, isNow: true }, ...before];
  });
  return sorted(groupedBy(counted, ({ day, company }) => `${monthOf(day)}|${company}|sold`)).map(
    ([key, all]) => [
      ...key.split('|'),
      ...[true, false].flatMap((isNow) => {
        const sales = all.filter((sale) => sale.isNow === isNow);
        return [
          String(sales.length),
          ...both(sales.length === 0 ? ZERO : sum(sales.map(({ total }) => total))),
        ];
      }),
    ],
  );
}
