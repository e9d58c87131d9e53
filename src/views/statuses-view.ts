import { sql } from 'drizzle-orm';
import type { Kind } from '../catalog/kind.ts';
import { orNull, readRows, readTexts } from '../db/rows/rows.ts';
import type { Queryable, Transaction } from '../db/session/session.ts';
import { identifier, literal } from '../db/session/sql-text.ts';
import { translateAll } from '../lib/text/translator.ts';
import type { Dialect } from '../store/tables/kind-table.ts';
import type { View } from './create-views.ts';
import { engineColumns } from './engine-columns.ts';
import { asText, typedViews } from './engine-views.ts';

/** What a status may count as, by kind: the settings `reports.sold`, `reports.owed` and `reports.bought`. */
const COUNTED: Readonly<Record<string, readonly string[]>> = {
  sales: ['sold', 'owed'],
  purchases: ['bought'],
};

/** A kind, and columns that its table has. */
interface StatusKind {
  readonly name: string;
  readonly columns: ReadonlySet<string>;
}

/** The fields of a kind that the views of statuses show. */
export const statusFields = ({ fields }: Kind): ReadonlySet<string> =>
  new Set(fields.map(({ name }) => name).filter((name) => name === 'status' || name === 'currency'));

/** The rows of `bi_statuses`. */
export const readStatuses = (db: Queryable) =>
  readRows(
    db,
    { kind: String, status: String, records: Number, countsAs: orNull(String) },
    sql`select * from bi_statuses order by kind, status`,
  );

/** The kinds that have a table, those that the settings no longer declare included: their views stay. */
export async function readStatusKinds(tx: Transaction): Promise<readonly StatusKind[]> {
  const known = sql`
    select kind from kind_state union select substr(view, 4) from dictionary where "column" = '_first_seen_at'`;
  const kinds: StatusKind[] = [];
  for (const name of new Set([...Object.keys(COUNTED), ...(await readTexts(tx, known))])) {
    const columns = await tx.listColumns(name);
    if (columns.size > 0) kinds.push({ name, columns });
  }
  return kinds;
}

const IS_LISTED: Record<Dialect, string> = {
  sqlite: `exists (select 1 from json_each(m.value) e where e.value = s.status)`,
  postgres: `jsonb_exists(cast(m.value as jsonb), s.status)`,
};

/**
 * The statuses that occur, one row each, with what they count as by the settings that the mirror keeps; without the setting, the
 * only one that occurs counts. Kinds that reports count have a row for their records even where the service sends no status.
 */
export function statusesViews(kinds: readonly StatusKind[], dialect: Dialect): readonly View[] {
  const shown = kinds
    .filter((kind) => kind.columns.has('status') || COUNTED[kind.name] !== undefined)
    .map((kind) => [kind.name, textOf(kind, 'status')]);
  // No union and no `count(*)`, as in `statusView`: each kind is joined to the one row that names it.
  const joined = shown.map(
    ([kind = '', status = ''], at) => `
      left join (select ${status} as status, count(1) as records from ${identifier(kind)} where _deleted_at is null group by 1) t${at}
        on k.kind = ${literal(kind)}`,
  );
  const oneOf = (column: string): string =>
    `coalesce(${[...shown.map((_, at) => `t${at}.${column}`), 'null', 'null'].join(', ')})`;
  const names = ['', ...shown.map(([kind = '']) => kind)].map((name) => `(${literal(name)})`).join(', ');
  const view: View = {
    name: 'bi_statuses',
    meaning: translateAll('The statuses that records have, one row each, with what reports count them as.'),
    columns: engineColumns('statuses', { counts_as: countsAs(dialect) }),
    from: `from (
      select cast(k.kind as text) as kind, cast(${oneOf('status')} as text) as status, cast(${oneOf('records')} as bigint) as records,
        count(1) over (partition by k.kind) as statuses
      from (select column1 as kind from (values ${names}) v) k${joined.join('')}
      where ${oneOf('status')} is not null) s`,
  };
  const purchases = kinds.find(({ name }) => name === 'purchases');
  const ofPurchases = purchaseStatuses(purchases, dialect);
  return [...typedViews(view, dialect), ofPurchases];
}

const textOf = (kind: StatusKind | undefined, name: string): string =>
  kind?.columns.has(name) === true
    ? `coalesce(nullif(cast(${name} as text), ''), 'none')`
    : `cast('none' as text)`;

/** The status and currency of each purchase, for reports of its lines; without rows where the mirror has no list of purchases. */
function purchaseStatuses(purchases: StatusKind | undefined, dialect: Dialect): View {
  const texts = ['status', 'currency'].map((name) => textOf(purchases, name));
  const [status = '', currency = ''] = dialect === 'sqlite' ? texts.map((text) => asText(text)) : texts;
  const shown = { purchase_id: purchases === undefined ? 'p.tick' : 'p.id', status, currency };
  return {
    name: 'bi_purchase_statuses',
    meaning: translateAll('Status and currency of each purchase; no rows if the mirror does not list them.'),
    columns: engineColumns('purchase_statuses', shown),
    from:
      purchases === undefined
        ? 'from kind_state p where false'
        : 'from purchases p where _deleted_at is null',
  };
}

function countsAs(dialect: Dialect): string {
  const kinds = Object.entries(COUNTED).map(([kind, meanings]) => {
    const texts = meanings.map((meaning) => {
      const listed = `(select ${IS_LISTED[dialect]} from mirror_meta m where m.key = ${literal(`reports.${meaning}`)})`;
      return `case when coalesce(${listed}, s.statuses = 1) then ${literal(`${meaning}, `)} else '' end`;
    });
    return `when ${literal(kind)} then ${texts.join(' || ')}`;
  });
  return `nullif(trim(case s.kind ${kinds.join(' ')} else '' end, ', '), '')`;
}
