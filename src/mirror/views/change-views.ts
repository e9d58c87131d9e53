import type { Kind } from '../../catalog/kind.ts';
import { CHANGES } from '../tables/change-tables.ts';
import { identifier, literal } from '../session/identifier.ts';
import type { View, ViewColumn } from './view.ts';

const plain = (name: string): ViewColumn => ({ name, expression: identifier(name) });

/** One row an event, with the table's column names. */
export const CHANGES_VIEW: View = {
  name: 'bi_changes',
  columns: CHANGES.columns.map(({ name }) => plain(name)),
  from: 'from changes',
};

/**
 * One row for each version of a record that the mirror knows: the content before the first event (part 0), and the content
 * after each event (part 1). The time during which a record was deleted has no row.
 *
 * No union: in SQLite, only a plain reference to a table's column keeps the declared type that clients rely on.
 */
export function historyView({ name }: Kind): View {
  const isFirst = `part.n = 0 and case when n.seq is null then k._deleted_at is null else n.before is not null end`;
  return {
    name: `bi_${name}_history`,
    columns: [
      { name: 'id', expression: 'k.id' },
      { name: 'valid_from', expression: 'c.observed_at' },
      { name: 'valid_to', expression: 'n.observed_at' },
      { name: 'change', expression: 'c.change' },
      {
        name: 'record',
        expression: `cast(case part.n when 1 then c.after else coalesce(n.before, k._raw) end as text)`,
      },
      { name: 'seq', expression: 'c.seq' },
    ],
    from: `
      from ${identifier(name)} k
      cross join (select 0 as n union all select 1) part
      left join changes c on part.n = 1 and ${isOf(name, 'c')}
      left join changes n on n.seq = ${nextEvent(name)}
      where (part.n = 1 and c.after is not null) or (${isFirst})`,
  };
}

/**
 * The event after `c`, or the record's first event, found through an index; `observed_at` never goes back, so this is the
 * order of `seq`.
 */
function nextEvent(kind: string): string {
  const last = `(coalesce(c.observed_at, '0001-01-01 00:00:00.000'), coalesce(c.seq, 0))`;
  return `(
        select x.seq from changes x where ${isOf(kind, 'x')} and (x.observed_at, x.seq) > ${last}
        order by x.observed_at, x.seq limit 1)`;
}

const isOf = (kind: string, events: string): string =>
  `${events}.kind = ${literal(kind)} and ${events}.record_id = cast(k.id as text)`;
