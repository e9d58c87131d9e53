import { sql } from 'drizzle-orm';
import { PASSING_REASONS } from '../../catalog/fault-reasons.ts';
import { formatInstant, parseInstant } from '../../lib/time/clock.ts';
import { orNull, readRows } from '../../db/rows/rows.ts';
import type { Queryable } from '../../db/session/session.ts';
import { sqlList } from '../../db/session/sql-list.ts';

/** Why a later reading may succeed by itself. `busy`: another process was reading the list; `interrupted`: a person stopped it. */
const PASSING: readonly string[] = [...PASSING_REASONS, 'busy', 'interrupted'];

export const isPassing = (reason: string | null): boolean => PASSING.includes(reason ?? '');

export const isRepeat = (slot: string | null): boolean => slot?.includes('#') === true;

const MINUTES = [1, 2, 5, 10, 15];

/** More runs than any service makes between two repeats. */
const RECENT_RUNS = 1000;

/**
 * Reads which kinds are not yet read since their latest slot, because the latest reading, whoever's it was, failed for a reason that
 * passes, and when they are to be read again: until a complete sweep has begun since, or the next slot has come.
 */
export async function readRepeats(db: Queryable) {
  const recent = sql`id > (select max(id) from runs) - ${RECENT_RUNS}`;
  const failed = sql`
    select f.*, coalesce(tried.slot, f.due) as slot, coalesce(tried.finished_at, f.failed_at) as tried_at
    from (select k.kind, k.started_at, r.finished_at as failed_at, coalesce(m.value, r.slot) as due,
        (select max(c.started_at) from run_kinds as c join runs as p on p.id = c.run_id and p.command = 'pull'
          where c.kind = k.kind and c.state in ('certified', 'complete')) as read_at
      from (select kind, max(run_id) as run_id from run_kinds where run_id in (
          select id from runs where command = 'pull' and ${recent}) group by kind) as latest
      join run_kinds as k on k.kind = latest.kind and k.run_id = latest.run_id
      join runs as r on r.id = k.run_id
      left join mirror_meta as m on m.key = 'due.' || k.kind
      where r.finished_at is not null and k.state not in ('certified', 'complete')
        and k.reason in (${sqlList(PASSING)})) as f
    left join runs as tried on tried.id = (
      select max(id) from runs where ${recent} and (slot = f.due or slot like f.due || '#%'))
    where f.due is not null order by f.kind`;
  const times = { triedAt: String, startedAt: String, failedAt: String, readAt: orNull(String) };
  const columns = { kind: String, due: String, slot: String, ...times };
  return (await readRows(db, columns, failed)).flatMap(({ kind, due, slot: name, ...at }) => {
    const [schedule = '', slot = ''] = due.split(/[@#]/);
    const [begun = ''] = [at.startedAt, formatInstant(new Date(slot))].sort();
    if (parseInstant(at.failedAt) < new Date(slot) || (at.readAt ?? '') >= begun) return [];
    const repeats = Number(name.split('#')[1] ?? 0);
    const minutes = MINUTES[repeats] ?? Math.max(...MINUTES);
    const dueAt = new Date(parseInstant(at.triedAt).getTime() + minutes * 60_000);
    return [{ kind, schedule, slot: new Date(slot), attempt: repeats + 1, dueAt }];
  });
}
