import { unitsOf } from '../../views/price-changes-view.ts';
import type { WrittenReport } from './report.ts';
import { amount, companyOf, monthOf, parsedJson, rowsOf } from './sql.ts';

/** The report of the months of some kinds (`what`) that were changed after they ended. */
export function closingReport(
  name: string,
  metric: string,
  what: string,
  kinds: readonly ClosedKind[],
): WrittenReport {
  const inText = what.toLowerCase();
  return {
    name,
    title: `${what} changed after their month was closed`,
    question: `Which months of ${inText} have other sums now than when they ended?`,
    notes: [
      'A month is closed when it ends, in `schedules.timezone`. `then` is the sum of its prices, hours or totals at that time, `now` the same at present.',
      'The mirror knows changes from the first certified reading of a kind on.',
    ],
    sql: closedMonths(what, kinds),
    keys: ['kind', 'month', 'company'],
    time: 'month',
    metrics: {
      [metric]: {
        column: 'changes',
        question: `How often were ${inText} changed after their month was closed?`,
      },
    },
    plot: {
      caption: `Changes of ${inText} after their month was closed`,
      series: { changes: 'changes' },
    },
  };
}

interface ClosedKind {
  readonly kind: string;
  readonly date: string;
  readonly money: string;
}

/** Each late change takes an amount from a month that was closed, or adds one to it: without these sums it is as when it ended. */
function closedMonths(what: string, kinds: readonly ClosedKind[]): string {
  const text = (record: string, field: string): string =>
    `nullif(trim(cast(${parsedJson(record)} -> '${field}' as text), '"'), 'null')`;
  const sides = kinds.flatMap(({ kind, date, money }) =>
    (['before', 'after'] as const).map(
      (
        side,
      ) => `select '${kind}' as kind, seq, substr(cast(day as text), 1, 7) as found, ${side === 'before' ? -1 : 1} as sign,
    substr(${text(side, date)}, 1, 7) as month, coalesce(${text(side, 'system_id')}, '0') as company, ${text(side, money)} as amount
  from bi_changes where kind = '${kind}' and ${side} is not null`,
    ),
  );
  const present = kinds.map(
    ({
      kind,
      date,
      money,
    }) => `${rowsOf(`bi_${kind}`, `${kind}_rows`, { [date]: 'text', [`${money}_e4`]: 'bigint', system_id: 'id' })},
${kind}_now as (
  select '${kind}' as kind, ${monthOf(`k.${date}`)} as month, cast(${companyOf('k')} as text) as company,
    cast(sum(k.${money}_e4) as bigint) as amount
  from ${kind}_rows k group by ${monthOf(`k.${date}`)}, cast(${companyOf('k')} as text)
)`,
  );
  const now = kinds.map((closed) => `select kind, month, company, amount from ${closed.kind}_now`);
  return `-- ${what} of months that have ended: what later changes took from them and added to them.
with
${present.join(',\n')},
present as (
  ${now.join(' union all ')}
),
sides as (
  ${sides.join('\n  union all\n  ')}
),
late as (
  select kind, month, company, count(distinct seq) as changes, cast(sum(sign * coalesce(${unitsOf('amount')}, 0)) as bigint) as amount
  from sides where month <> '' and month <> '0000-00' and month < found group by kind, month, company
)
select l.kind, l.month, l.company, l.changes,
  ${amount('(coalesce(p.amount, 0) - l.amount)', 'then')},
  ${amount('coalesce(p.amount, 0)', 'now')}
from late l left join present p on p.kind = l.kind and p.month = l.month and p.company = l.company
order by l.month, l.kind, l.company
`;
}
