import { Big } from 'big.js';
import { FIRST_DAY } from '../../scripts/reports/business.ts';
import type { Json, JsonObject } from '../../src/lib/json/json.ts';
import type { CountedStatuses } from '../../src/views/counted-statuses.ts';
import type { World } from '../../sandbox/world.ts';
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
  textOf,
  textOfUnits,
  unitsOf,
  valueAt,
  type Amount,
  type Rows,
} from './values.ts';

/** The settings by which the reports count. `none` has the hard records of the tests, which have no status. */
export const COUNTED = {
  sold: ['invoice', 'none'],
  owed: ['invoice', 'none'],
  bought: ['received', 'invoiced', 'none'],
} as const satisfies CountedStatuses;

export const statusOf = ({ status }: JsonObject): string => textOf(status) || 'none';
export const isSold = (status: string): boolean => COUNTED.sold.some((counted) => counted === status);
export const isBought = (purchase: JsonObject | undefined): boolean =>
  COUNTED.bought.some((counted) => counted === (purchase === undefined ? 'none' : statusOf(purchase)));

/** The currency of a purchase; `none` for one that is not there. */
export const currencyOf = (purchase: JsonObject | undefined): string =>
  textOf(purchase?.['currency']) || 'none';

/** The currency of most lines of each company; of several, the first by name. */
export function usualCurrencies(
  lines: readonly { readonly company: string; readonly currency: string }[],
): ReadonlyMap<string, string> {
  const usual = [...groupedBy(lines, ({ company }) => company)].map(([company, all]) => {
    const [[name] = ['none']] = sorted(groupedBy(all, ({ currency }) => currency)).toSorted(
      ([, one], [, other]) => other.length - one.length,
    );
    return [company, name] as const;
  });
  return new Map(usual);
}

interface Sale {
  readonly id: string;
  readonly company: string;
  readonly branch: string;
  readonly client: string;
  readonly day: string | null;
  readonly status: string;
  readonly lines: Amount;
  readonly total: Amount;
}

export function salesOf(world: World): readonly Sale[] {
  const lines = groupedBy(recordsOf(world, 'sales_products'), ({ sale_id: id }) => idOf(id));
  return recordsOf(world, 'sales').map((sale) => {
    const id = textOf(sale['id']);
    const own = sum((lines.get(id) ?? []).map((line) => unitsOf(line['produit_total'])));
    return {
      id,
      company: idOf(sale['system_id']),
      branch: idOf(sale['branch_id']),
      client: idOf(sale['client_id']),
      day: dayOf(sale['date']),
      status: statusOf(sale),
      lines: own,
      total: unitsOf(sale['total']) ?? own,
    };
  });
}

export function salesByMonth(world: World): Rows {
  const months = groupedBy(
    salesOf(world).filter(({ status }) => isSold(status)),
    ({ day, company, branch }) => `${monthOf(day)}|${company}|${branch}|sold`,
  );
  return sorted(months).map(([key, sales]) => [
    ...key.split('|'),
    String(sales.length),
    String(new Set(sales.map(({ client }) => client).filter((client) => client !== '0')).size),
    ...both(sum(sales.map(({ lines }) => lines))),
    ...both(sum(sales.map(({ total }) => total))),
  ]);
}

/** As of the day on which the sales were read. */
export function receivablesByAge(world: World): Rows {
  const paid = groupedBy(
    recordsOf(world, 'sales_payments').filter(({ date_payment: day }) => (dayOf(day) ?? '') <= FIRST_DAY),
    ({ invoice_id: id }) => idOf(id),
  );
  const open = salesOf(world).flatMap((sale) => {
    const payments = sum((paid.get(sale.id) ?? []).map(({ amount }) => unitsOf(amount))) ?? ZERO;
    if (
      !isSold(sale.status) ||
      sale.total === null ||
      (sale.day ?? '') > FIRST_DAY ||
      sale.total.eq(payments)
    )
      return [];
    const age =
      sale.day === null || !isInCalendar(sale.day)
        ? null
        : (Date.parse(FIRST_DAY) - Date.parse(sale.day)) / DAY_MS;
    return [{ ...sale, owed: sale.total.minus(payments), age }];
  });
  const clients = groupedBy(open, ({ company, branch, client }) => `${company} ${branch} ${client}`);
  const rows = [...clients].map(([key, sales]) => {
    const [company = '', branch = '', client = ''] = key.split(' ');
    const owed = sum(sales.map((sale) => sale.owed));
    const aged = [
      [0, 30],
      [31, 60],
      [61, 90],
      [91, Infinity],
    ].map(([from = 0, to = 0]) =>
      sum(sales.map((sale) => (sale.age !== null && sale.age >= from && sale.age <= to ? sale.owed : ZERO))),
    );
    const undated = sum(sales.map((sale) => (sale.age === null ? sale.owed : ZERO)));
    const facts = presentTexts(world.get('clients', Number(client)), ['code', 'name']);
    const ages = [...aged, undated].map(textOfUnits);
    return {
      id: key,
      by: owed,
      row: [company, branch, client, 'owed', ...facts, String(sales.length), ...both(owed), ...ages],
    };
  });
  return largestFirst(rows);
}

export function purchasesByMonth(world: World): Rows {
  const months = groupedBy(
    recordsOf(world, 'purchases').filter(isBought),
    ({ date, system_id: company, branch_id: branch, provider_id: provider, ...purchase }) =>
      `${monthOf(date)} ${idOf(company)} ${idOf(branch).padStart(4, '0')} ${idOf(provider).padStart(12, '0')} ${currencyOf(purchase)}`,
  );
  return sorted(months).map(([key, purchases]) => {
    const [month = '', company = '', ...others] = key.split(' ');
    const [branch = '', provider = ''] = others.slice(0, 2).map((id) => String(Number(id)));
    const currency = others.at(-1) ?? '';
    return [
      month,
      company,
      branch,
      provider,
      'bought',
      currency,
      ...presentTexts(world.get('providers', Number(provider)), ['code', 'name']),
      String(purchases.length),
      ...both(sum(purchases.map(({ subtotal }) => unitsOf(subtotal)))),
      ...both(sum(purchases.map(({ total }) => unitsOf(total)))),
    ];
  });
}

/** Lines of sales with the company that they or their sale name. */
function saleLines(world: World) {
  const sales = new Map(salesOf(world).map((sale) => [sale.id, sale]));
  return recordsOf(world, 'sales_products').map((line) => {
    const sale = sales.get(idOf(line['sale_id']));
    const own: Json | undefined = line['system_id'];
    const company = own === null || own === undefined || own === '' ? (sale?.company ?? '0') : textOf(own);
    return { line, sale, company, branch: sale?.branch ?? '0', product: idOf(line['product_id']) };
  });
}

export function saleMargins(world: World): Rows {
  const bought = recordsOf(world, 'purchase_products').flatMap((line) => {
    const purchase = world.get('purchases', Number(idOf(line['purchase_id'])));
    const [total, quantity] = [unitsOf(line['produit_total']), unitsOf(line['product_quantity'])];
    if (total === null || quantity === null || !isBought(purchase)) return [];
    const id = line['product_id'];
    const product = textOf(id) === '' ? 'none' : idOf(id);
    return [{ product, company: idOf(line['system_id']), currency: currencyOf(purchase), total, quantity }];
  });
  const usual = usualCurrencies(bought);
  const meanPrice = (company: string, product: string): Amount => {
    const lines = bought.filter(
      (line) => line.company === company && line.product === product && line.currency === usual.get(company),
    );
    const total = sum(lines.map((line) => line.total));
    const quantity = sum(lines.map((line) => line.quantity));
    if (total === null || quantity === null || !quantity.gt(0) || total.abs().gt('9e14')) return null;
    return total.times(10_000).div(quantity).round(0, Big.roundDown);
  };
  const groups = groupedBy(
    saleLines(world).filter(({ sale }) => isSold(sale?.status ?? 'none')),
    ({ company, branch, product }) => `${company} ${branch} ${product}`,
  );
  const rows = [...groups].map(([key, lines]) => {
    const [company = '', branch = '', id = ''] = key.split(' ');
    const quantity = sum(lines.map(({ line }) => unitsOf(line['product_quantity'])));
    const sold = sum(lines.map(({ line }) => unitsOf(line['produit_total'])));
    const product = world.get('products', Number(id));
    const [own, purchase] = [unitsOf(product?.['cost']), meanPrice(company, id)].map((price) =>
      valueAt(price, quantity),
    ) as [Amount, Amount];
    const margin = (cost: Amount): Amount => (sold === null || cost === null ? null : sold.minus(cost));
    const row = [
      company,
      branch,
      id,
      'sold',
      usual.get(company) ?? 'none',
      ...presentTexts(product, ['code', 'name_fr']),
      String(lines.length),
      textOfUnits(quantity),
      ...both(sold),
      textOfUnits(own),
      textOfUnits(purchase),
      ...both(margin(own)),
      ...both(margin(purchase)),
    ];
    return { id: key, by: sold, row };
  });
  return largestFirst(rows);
}

export function hoursWorkedAndBilled(world: World): Rows {
  const worked = recordsOf(world, 'punches').map(({ date, system_id: company, ptotal }) => ({
    key: `${monthOf(date)} ${idOf(company)}`,
    worked: unitsOf(ptotal),
    billed: null as Amount,
  }));
  const billed = saleLines(world).flatMap(({ line, sale, company, product }) =>
    world.get('products', Number(product))?.['unit'] === 'h' && isSold(sale?.status ?? 'none')
      ? [{ key: `${monthOf(sale?.day)} ${company}`, worked: null, billed: unitsOf(line['product_quantity']) }]
      : [],
  );
  return sorted(groupedBy([...worked, ...billed], ({ key }) => key)).map(([key, parts]) => [
    ...key.split(' '),
    'sold',
    ...both(sum(parts.map((part) => part.worked))),
    ...both(sum(parts.map((part) => part.billed))),
  ]);
}

export function duplicateClients(world: World): Rows {
  const folded = (name: string): string =>
    name
      .normalize('NFD')
      .replace(/[\u0300-\u036f]/g, '')
      .toLowerCase()
      .replace(/[ \-.,'’&]/g, '');
  const digits = (phone: string): string => phone.replace(/[ \-().+/]/g, '').replace(/^1(?=.{10}$)/, '');
  const named = recordsOf(world, 'clients').flatMap((client) => [
    ...(textOf(client['name']) === '' ? [] : [{ client, key: `name ${folded(textOf(client['name']))}` }]),
    ...['phone', 'phone2', 'phone_work'].flatMap((field) =>
      textOf(client[field]) === '' ? [] : [{ client, key: `phone ${digits(textOf(client[field]))}` }],
    ),
  ]);
  const groups = [...groupedBy(named, ({ key }) => key)].flatMap(([key, found]) => {
    const [by = '', value = ''] = key.split(' ');
    const clients = [...new Map(found.map(({ client }) => [Number(client['id']), client])).entries()];
    return value.length > 2 && clients.length > 1 ? [{ by, value, clients }] : [];
  });
  const ordered = groups.sort(
    (one, other) =>
      (one.by < other.by ? -1 : one.by > other.by ? 1 : 0) ||
      other.clients.length - one.clients.length ||
      (one.value < other.value ? -1 : 1),
  );
  return ordered.flatMap(({ by, value, clients }) =>
    clients
      .toSorted(([one], [other]) => one - other)
      .map(([id, client]) => [
        by,
        value,
        String(clients.length),
        '1',
        String(id),
        ...presentTexts(client, ['code', 'name']),
      ]),
  );
}

/** The sums of a kind's records by month and company, and how each month's changed by late changes. */
export function lateChanges(
  kind: string,
  fields: {
    readonly date: string;
    readonly money: string;
    /** What its records count as, and which do; left out = all. */
    readonly as?: string;
    readonly counts?: (record: JsonObject) => boolean;
    /** The currency of each; left out = the report has none. */
    readonly currency?: (record: JsonObject) => string;
  },
  before: readonly JsonObject[],
  after: readonly JsonObject[],
): Rows {
  const keyOf = (record: JsonObject): string =>
    [monthOf(record[fields.date]), idOf(record['system_id']), fields.currency?.(record) ?? ''].join(' ');
  const changed = new Map<string, Set<string>>();
  const byId = (records: readonly JsonObject[]) =>
    new Map(records.map((record) => [textOf(record['id']), record]));
  const old = byId(before);
  const present = byId(after);
  for (const id of new Set([...old.keys(), ...present.keys()])) {
    const pair = [old.get(id), present.get(id)];
    if (JSON.stringify(pair[0]) === JSON.stringify(pair[1])) continue;
    for (const record of pair)
      if (record !== undefined) changed.set(keyOf(record), (changed.get(keyOf(record)) ?? new Set()).add(id));
  }
  const total = (records: readonly JsonObject[], key: string): Amount =>
    sum(records.filter((record) => keyOf(record) === key).map((record) => unitsOf(record[fields.money]))) ??
    ZERO;
  return sorted(changed)
    .filter(([key]) => !key.startsWith('none'))
    .map(([key, ids]) => {
      const [month = '', company = '', currency = ''] = key.split(' ');
      return [
        kind,
        month,
        company,
        ...(fields.as === undefined ? [] : [fields.as, currency]),
        String(ids.size),
        ...both(total(before, key)),
        ...both(total(after, key)),
      ];
    });
}
