import { sql } from 'drizzle-orm';
import { TABLES_SCHEMA, placeOf } from '../postgres/schemas.ts';
import type { Transaction } from '../session/session.ts';
import { sqlList } from '../session/sql-list.ts';

const FUNCTION = `${TABLES_SCHEMA}.refuse_write`;
const EACH_ROW = 'bms_sync_refuses_rows';
const STATEMENT = 'bms_sync_refuses';

/** Raises the error code that PostgreSQL itself uses for a view that cannot be written. */
const DRAW_FUNCTION = `
create or replace function ${FUNCTION}() returns trigger language plpgsql as $$
begin
  raise exception using
    errcode = 'object_not_in_prerequisite_state',
    message = format('The view %I.%I only shows what the service holds: it takes no %s.',
      tg_table_schema, tg_table_name, lower(tg_op)),
    hint = 'Change the record at the service, by bms-sync push or a row in ${TABLES_SCHEMA}.outbox; the next pull shows it here.';
end $$`;

/** Creates the trigger function that refuses writes through views; runs before the first view is created. */
export async function drawRefusal(tx: Transaction): Promise<void> {
  await tx.execute(DRAW_FUNCTION);
}

/**
 * Makes views refuse writes, their owner's and a superuser's too; PostgreSQL would pass them on to the tables.
 *
 * The row trigger keeps PostgreSQL from passing writes on; the statement trigger refuses writes that match no row. Neither
 * affects reads.
 */
export async function refuseWrites(tx: Transaction, views: readonly string[]): Promise<void> {
  if (views.length === 0) return;
  const guarded = await tx.query(sql`
    select relname as view from pg_trigger join pg_class c on c.oid = tgrelid
    where tgname = ${EACH_ROW} and relnamespace = 'public'::regnamespace and relname in (${sqlList(views)})`);
  const done = new Set(guarded.map(({ view }) => String(view)));
  const statements = views.filter((view) => !done.has(view)).map((view) => drawTriggers(placeOf(view)));
  if (statements.length > 0) await tx.execute(statements.join(';\n'));
}

const drawTriggers = (place: string): string => `
  create trigger ${EACH_ROW} instead of insert or update or delete on ${place}
    for each row execute function ${FUNCTION}();
  create trigger ${STATEMENT} before insert or update or delete on ${place}
    for each statement execute function ${FUNCTION}()`;
