import { sql } from 'drizzle-orm';
import { PASSING_REASONS } from '../../catalog/fault-reasons.ts';
import { parseInstant } from '../../lib/time/clock.ts';
import { textColumn, timestampColumn } from '../../db/rows/engine-column.ts';
import { readRows } from '../../db/rows/rows.ts';
import type { Queryable } from '../../db/session/session.ts';
import { sqlList } from '../../db/session/sql-text.ts';

/** Why a later reading may succeed by itself. `busy`: another process was reading the list. */
const PASSING: readonly string[] = [...PASSING_REASONS, 'busy'];

export const isPassing = (reason: string | null): boolean => PASSING.includes(reason ?? '');

export const isRepeat = (slot: string | null): boolean => slot?.includes('#') === true;

const MINUTES = [1, 2, 5, 10, 15];

/** More runs than any service makes between two repeats. */
const RECENT_RUNS = 1000;

/**
 * Reads which kinds the latest slot that names them could not read for a reason that passes, and when they are to be read again:
 * until any complete sweep has begun since, or the next slot has come.
 */
export async function readRepeats(db: Queryable) {
  const failed = sql`
    select k.kind, r.slot, r.finished_at
    from (select kind, max(run_id) as run_id from run_kinds where run_id in (
        select id from runs where slot is not null and id > (select max(id) - ${RECENT_RUNS} from runs))
      group by kind) as latest
    join run_kinds as k on k.kind = latest.kind and k.run_id = latest.run_id
    join runs as r on r.id = k.run_id
    where r.finished_at is not null and k.state not in ('certified', 'complete')
      and k.reason in (${sqlList(PASSING)})
      and not exists (
        select 1 from run_kinds as later join runs as p on p.id = later.run_id and p.command = 'pull'
        where later.kind = k.kind and later.state in ('certified', 'complete')
          and (later.run_id > k.run_id or later.started_at > k.started_at))
    order by k.kind`;
  const columns = [textColumn('kind'), textColumn('slot'), timestampColumn('finished_at')] as const;
  return (await readRows(db, columns, failed)).map(({ kind, slot: name, finishedAt }) => {
    const [schedule = '', slot = '', repeats = '0'] = name.split(/[@#]/);
    const minutes = MINUTES[Number(repeats)] ?? Math.max(...MINUTES);
    const dueAt = new Date(parseInstant(finishedAt).getTime() + minutes * 60_000);
    return { kind, schedule, slot: new Date(slot), attempt: Number(repeats) + 1, dueAt };
  });
}
