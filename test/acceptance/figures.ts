import { getTableName, sql } from 'drizzle-orm';
import {
  CHANGES,
  DELETIONS,
  PAGES,
  DIRTY_ROWS,
  UNLISTED_ROWS,
} from '../../src/store/tables/change-tables.ts';
import {
  DRIFT,
  FIELDS,
  ISSUES,
  KIND_STATE,
  MIRROR_META,
  RUNS,
  RUN_KINDS,
  SIGHTINGS,
} from '../../src/store/tables/engine-tables.ts';
import {
  LINKS,
  OUTBOX,
  OUTBOX_ATTEMPTS,
  OUTBOX_KEYS,
  WORKERS,
  WRITE_BLOCKS,
} from '../../src/store/tables/outbox-tables.ts';
import type { Session } from '../../src/db/session/session.ts';

const TABLES = [
  MIRROR_META,
  KIND_STATE,
  RUNS,
  RUN_KINDS,
  SIGHTINGS,
  FIELDS,
  DRIFT,
  ISSUES,
  PAGES,
  DIRTY_ROWS,
  CHANGES,
  DELETIONS,
  UNLISTED_ROWS,
  OUTBOX,
  OUTBOX_KEYS,
  OUTBOX_ATTEMPTS,
  LINKS,
  WRITE_BLOCKS,
  WORKERS,
].map((table) => getTableName(table));

/** Taken once a minute. */
export interface Sample {
  readonly minute: number;
  readonly rssMb: number;
  /** Engine table to its rows. */
  readonly rows: Readonly<Record<string, number>>;
}

export async function takeSample(session: Session, minute: number): Promise<Sample> {
  const rows: Record<string, number> = {};
  for (const name of TABLES) {
    const [row] = await session.query(sql`select count(*) as n from ${sql.identifier(name)}`);
    rows[name] = Number(row?.['n']);
  }
  return { minute, rssMb: megabytes(process.memoryUsage.rss()), rows };
}

const megabytes = (bytes: number): number => Math.round(bytes / 2 ** 20);

/** Creates by what became of them, those included whose entries are archived. */
export async function countCreates(session: Session): Promise<Record<string, number>> {
  const rows = await session.query(sql`
    select outcome, count(*) as n from (
      select case when state = 'parked' then 'parked: ' || coalesce(verdict, '') else state end as outcome
        from outbox where operation = 'create'
      union all select state as outcome from outbox_keys where operation = 'create') all_creates
    group by outcome order by outcome`);
  return Object.fromEntries(rows.map((row) => [String(row['outcome']), Number(row['n'])]));
}

/** Records with an event that they were deleted, as `kind:id`. */
export async function deletedRecords(session: Session): Promise<string[]> {
  const rows = await session.query(sql`select kind, record_id from changes where change = 'deleted'`);
  return rows.map((row) => `${String(row['kind'])}:${String(row['record_id'])}`);
}

/** One line per table, one column per minute. */
export function tableOf(samples: readonly Sample[]): string {
  const line = (name: string, cells: readonly number[]): string =>
    name.padEnd(18) + cells.map((cell) => String(cell).padStart(8)).join('');
  const of = (read: (sample: Sample) => number): number[] => samples.map(read);
  return [
    line(
      'minute',
      of(({ minute }) => minute),
    ),
    line(
      'resident MB',
      of(({ rssMb }) => rssMb),
    ),
    ...TABLES.map((name) =>
      line(
        name,
        of(({ rows }) => rows[name] ?? 0),
      ),
    ),
  ].join('\n');
}
