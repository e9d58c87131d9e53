import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sql } from 'drizzle-orm';
import type { Session } from '../../src/mirror/session/session.ts';
import type { Audit } from './audit.ts';
import type { Tally } from './tally.ts';

/** What is left at the end of a virtual day, and what came of it. */
export interface DayFigures {
  readonly day: number;
  readonly pulls: number;
  readonly sweeps: number;
  readonly certified: number;
  readonly events: number;
  readonly deleted: number;
  readonly restored: number;
  readonly entries: number;
  readonly findings: number;
  readonly wallMs: number;
  /** In bytes, after everything that can be collected is. */
  readonly heap: number;
  readonly rss: number;
  /** The most rows that each table had at any hour of the day. */
  readonly rows: RowCounts;
}

export type RowCounts = Readonly<Record<string, number>>;

/** Tables that must not grow with time: something forgets what is old. */
const BOUNDED = [
  'sightings',
  'pages',
  'touched',
  'runs',
  'run_kinds',
  'changes',
  'fields',
  'write_blocks',
] as const;
/** Tables that grow with what happens, because nothing forgets it. */
const GROWING = [
  'outbox',
  'outbox_attempts',
  'links',
  'issues',
  'drift',
  'deletions',
  'mirror_meta',
] as const;

export async function countTables(session: Session): Promise<RowCounts> {
  const counts: Record<string, number> = {};
  for (const table of [...BOUNDED, ...GROWING]) {
    const [row] = await session.query(sql`select count(*) as n from ${sql.identifier(table)}`);
    counts[table] = Number(row?.['n']);
  }
  return counts;
}

/** The heap in use once all that nobody holds is collected. */
export function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 3; turn++) collect();
  return process.memoryUsage().heapUsed;
}

export function mostRows(a: RowCounts, b: RowCounts): RowCounts {
  return Object.fromEntries(Object.entries(b).map(([table, rows]) => [table, Math.max(rows, a[table] ?? 0)]));
}

export function countDay({ recording, findings }: Audit) {
  const { pulls, changes, entries } = recording;
  const states = pulls.flatMap((pull) => [...pull.states.values()]);
  return {
    pulls: pulls.filter(({ runId }) => runId >= 0).length,
    sweeps: states.length,
    certified: states.filter((state) => state === 'certified').length,
    events: changes.length,
    deleted: changes.filter(({ change }) => change === 'deleted').length,
    restored: changes.filter(({ change }) => change === 'restored').length,
    entries: entries.length,
    findings: findings.length,
  };
}

const HEAP_SLACK = 5e6;
const ROWS_SLACK = 50;

/**
 * Whatever has grown beyond what the second day left behind, when everything is kept that is kept for two days: the heap by
 * more than a tenth and 5 MB, a table that something prunes by more than a half and 50 rows. A table that nothing prunes
 * may grow as much a day as on the second one, twice over.
 */
export function grown(days: readonly DayFigures[]): string[] {
  const [first, known] = days;
  if (first === undefined || known === undefined) return [];
  return days.slice(2).flatMap(({ day, heap, rows }, index) => {
    const before = days[index + 1] ?? known;
    const tables = [
      ...BOUNDED.map((table) => ({ table, most: rowsIn(known, table) * 1.5 })),
      ...GROWING.map((table) => ({
        table,
        most: rowsIn(before, table) + 2 * (rowsIn(known, table) - rowsIn(first, table)),
      })),
    ];
    const heapMost = known.heap * 1.1 + HEAP_SLACK;
    return [
      ...(heap > heapMost ? [`heap after day ${day}: ${heap} bytes, at most ${Math.round(heapMost)}`] : []),
      ...tables
        .filter(({ table, most }) => (rows[table] ?? 0) > most + ROWS_SLACK)
        .map(
          ({ table, most }) =>
            `${table} on day ${day}: ${rows[table] ?? 0} rows, at most ${most + ROWS_SLACK}`,
        ),
    ];
  });
}

const rowsIn = ({ rows }: DayFigures, table: string): number => rows[table] ?? 0;

/** For people: a line a day, and one of what went wrong in all of them. */
export function shown(days: readonly DayFigures[], tally: Tally): string {
  const lines = days.map(({ heap, rss, rows, wallMs, ...counts }) =>
    JSON.stringify({
      ...counts,
      ...{ heapMB: megabytes(heap), rssMB: megabytes(rss), seconds: Math.round(wallMs / 1000) },
      rows,
    }),
  );
  return `${[...lines, JSON.stringify(told(tally))].join('\n')}\n`;
}

const told = ({ reached, ...counted }: Tally) => ({ ...counted, crashPoints: reached.size });
const megabytes = (bytes: number): number => Math.round(bytes / 1e5) / 10;
