import { identifier, literal, withoutEscapes } from '../db/session/sql-text.ts';
import type { Kind } from '../catalog/kind.ts';
import { translateAll } from '../lib/text/translator.ts';
import type { Dialect } from '../store/tables/kind-table.ts';
import { dayOfInstant } from './calendar-days.ts';
import type { View } from './create-views.ts';
import { engineColumns } from './engine-columns.ts';
import { typedViews } from './engine-views.ts';

/** The old (0) or new (1) value of the field `p.field` of an event, as text. */
const VALUE: Record<Dialect, (at: 0 | 1) => string> = {
  sqlite: (at) => {
    const path = `'$.' || p.field || '[${at}]'`; // A number is taken as it is written: `json_extract` makes a double of it.
    return `case json_type(c.fields, ${path}) when 'text' then json_extract(c.fields, ${path}) else nullif(c.fields -> (${path}), 'null') end`;
  },
  postgres: (at) => `(cast(${withoutEscapes('c.fields')} as json) -> p.field ->> ${at})`,
};

/** A decimal written as text, in units of 0.0001; null for anything else, beyond four places, and from 900,000,000,000 on. */
const unitsOf = (text: string): string =>
  `case when trim(${text}, '0123456789.-') = '' and trim(${text}, '.-') <> '' and ${text} not like '%.%.%'
      and ${text} not like '_%-%' and ${text} not like '%._____%' and length(${text}) < 20
      and abs(cast(${text} as numeric)) < 900000000000
    then cast(round(cast(${text} as numeric) * 10000) as bigint) end`;

/** The changes of a kind's prices, one row for each field, with who made those of our own. */
export function priceChangesViews({ name: kind, fields, hints }: Kind, dialect: Dialect): readonly View[] {
  const names = new Set([...fields, ...hints].filter(isPrice).map((field) => field.name));
  if (names.size === 0) return [];
  const oldPrice = VALUE[dialect](0);
  const newPrice = VALUE[dialect](1);
  const prices = [...names].map((name) => `(${literal(name)})`).join(', ');
  const view: View = {
    name: 'bi_price_changes',
    meaning: translateAll(
      'Changes of prices of products, one row each, in the order in which they were found.',
    ),
    columns: engineColumns('price_changes', {
      seq: 'c.seq',
      day: dayOfInstant('c.observed_at'),
      observed_at: 'c.observed_at',
      product_id: 'c.record_number',
      field: 'p.field',
      old_price: oldPrice,
      new_price: newPrice,
      old_price_e4: unitsOf(oldPrice),
      new_price_e4: unitsOf(newPrice),
      origin: 'c.origin',
      changed_by: 'o.pushed_by',
    }),
    from: `
      from changes c
      cross join (select column1 as field from (values ${prices}) v) p
      left join outbox o on c.origin = 'outbox:' || o.id
      where c.kind = ${literal(kind)} and c.change = 'updated' and c.fields like '%"' || p.field || '"%'
        and (${oldPrice} is not null or ${newPrice} is not null)`,
  };
  return typedViews(view, dialect, ({ name }) => (COMPUTED.includes(name) ? null : `n.${identifier(name)}`));
}

const COMPUTED = ['field', 'old_price', 'new_price', 'old_price_e4', 'new_price_e4'];

const isPrice = ({ name, type }: Kind['fields'][number]): boolean =>
  type === 'decimal' && /(?:^|_)price$/.test(name);
