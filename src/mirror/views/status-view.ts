import type { ListedKind } from '../../catalog/kind.ts';
import { identifier, literal } from '../session/identifier.ts';
import type { Dialect } from '../tables/kind-table.ts';
import type { View } from './view.ts';

const NOW: Record<Dialect, string> = {
  sqlite: `strftime('%Y-%m-%d %H:%M:%f', 'now')`,
  postgres: 'now()',
};

const LAG: Record<Dialect, string> = {
  sqlite: `cast(round((julianday('now') - julianday(s.last_sweep_at)) * 86400) as integer)`,
  postgres: `round(extract(epoch from now() - s.last_sweep_at))::bigint`,
};

/** One row a kind: how fresh and how sound its copy is. */
export function syncStatusView(kinds: readonly ListedKind[], dialect: Dialect): View {
  const rows = kinds.map(({ name }) => `select ${literal(name)} as kind, ${liveRows(name)} as rows`);
  const isDead = `s.state = 'running' and s.lease_until < ${NOW[dialect]}`; // Its process has renewed no lease.
  const state = (name: string) => ({ name, expression: `s.${name}` });
  return {
    name: 'bi_sync_status',
    columns: [
      { name: 'kind', expression: 'k.kind' },
      { name: 'state', expression: `case when ${isDead} then 'aborted' else coalesce(s.state, 'never') end` },
      { name: 'reason', expression: `case when ${isDead} then 'interrupted' else s.reason end` },
      { name: 'rows', expression: 'k.rows' },
      state('last_sweep_at'),
      state('certified_at'),
      { name: 'lag_seconds', expression: LAG[dialect] },
      state('last_change_at'),
      {
        name: 'open_issues',
        expression: '(select count(*) from issues i where i.kind = k.kind and i.closed_at is null)',
      },
      {
        name: 'held_deletions',
        // The first release's type: PostgreSQL lets no view change the type of a column.
        expression: `cast((select count(*) from deletions d where d.kind = k.kind and d.state = 'held') as integer)`,
      },
    ],
    from: `from (${rows.join(' union all ')}) k left join kind_state s on s.kind = k.kind`,
  };
}

/** Counted through two indexes: reading a million rows to count them would take seconds. */
function liveRows(kind: string): string {
  const table = identifier(kind);
  return `(select count(*) from ${table}) - (select count(*) from ${table} where _deleted_at is not null)`;
}
