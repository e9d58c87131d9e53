import type { Field, Kind, ListedKind } from '../catalog/kind.ts';
import { isListed } from '../catalog/kind.ts';
import { identifier, literal } from './identifier.ts';

export interface View {
  readonly name: string;
  readonly select: string;
}

/** The views that analysts read: one a kind, and the state of the mirror itself. */
export function views(kinds: readonly Kind[]): readonly View[] {
  return [...kinds.map(kindView), syncStatusView(kinds.filter(isListed))];
}

/** Live rows; plain column references, because only these keep their declared type in every client. */
function kindView(kind: Kind): View {
  const columns = kind.fields.flatMap(viewColumns).join(', ');
  return {
    name: `bi_${kind.name}`,
    select: `select ${columns} from ${identifier(kind.name)} where _deleted_at is null`,
  };
}

function viewColumns({ name, type }: Field): string[] {
  if (type !== 'decimal') return [identifier(name)];
  return [
    `${identifier(`${name}_real`)} as ${identifier(name)}`,
    `${identifier(name)} as ${identifier(`${name}_exact`)}`,
    identifier(`${name}_e4`),
  ];
}

function syncStatusView(kinds: readonly ListedKind[]): View {
  const kindNames = kinds
    .map(({ name }) => `select ${literal(name)} as kind, (${liveRows(name)}) as rows`)
    .join(' union all ');
  return {
    name: 'bi_sync_status',
    select: `
      select k.kind,
        coalesce(s.state, 'never') as state,
        s.reason,
        k.rows,
        s.last_sweep_at,
        s.certified_at,
        cast(round((julianday('now') - julianday(s.last_sweep_at)) * 86400) as integer) as lag_seconds,
        s.last_change_at,
        (select count(*) from issues i where i.kind = k.kind and i.closed_at is null) as open_issues,
        0 as held_deletions
      from (${kindNames}) k left join kind_state s on s.kind = k.kind`,
  };
}

/** Counted through two indexes: reading a million rows to count them would take seconds. */
function liveRows(kind: string): string {
  const table = identifier(kind);
  return `(select count(*) from ${table}) - (select count(*) from ${table} where _deleted_at is not null)`;
}
