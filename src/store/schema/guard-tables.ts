import type { Kind } from '../../catalog/kind.ts';
import { MirrorError } from '../../db/session/errors.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { TABLES_SCHEMA, identifier, literal, qualifiedName } from '../../db/session/sql-text.ts';
import { GUARD_FUNCTION, GUARD_SETTING } from '../../db/session/write-guard.ts';
import { nestedTables } from '../tables/kind-table.ts';

export const REFUSE_FUNCTION = `${TABLES_SCHEMA}.refuse_write`;

/** Creates the function that refuses writes, with the error code that PostgreSQL itself uses for a view that cannot be written. */
export const CREATE_REFUSE_FUNCTION = `
create or replace function ${REFUSE_FUNCTION}() returns trigger language plpgsql as $$
begin
  raise exception using
    errcode = 'object_not_in_prerequisite_state',
    message = format('The %s %I.%I is read-only: %s is not allowed; use bms-sync push or insert into ${TABLES_SCHEMA}.outbox.',
      coalesce(tg_argv[0], 'view'), tg_table_schema, tg_table_name, lower(tg_op)),
    hint = 'The change goes to the service, and the next pull shows it here.';
end $$`;

const GUARD = 'bms_sync_guards';

/**
 * Makes a kind's table or a nested table refuse the writes of other programs. In SQLite each row calls a function that only our
 * writing connection has; in PostgreSQL each statement, `copy` and `truncate` too, asks for a setting of our transactions.
 */
export async function guardTable(tx: Transaction, table: string): Promise<void> {
  await tx.execute(tx.dialect === 'sqlite' ? sqliteGuards(table) : postgresGuard(qualifiedName(table)));
}

/** Makes a table in PostgreSQL accept the writes of other programs again. */
export const removeGuard = (tx: Transaction, table: string): Promise<void> =>
  tx.execute(`drop trigger if exists ${GUARD} on ${qualifiedName(table)}`);

const sqliteGuards = (table: string): string =>
  ['insert', 'update', 'delete']
    .map(
      (change) => `
        create trigger if not exists ${identifier(`${table}_guards_${change}`)} before ${change} on ${identifier(table)}
        begin select ${GUARD_FUNCTION}(); end;`,
    )
    .join('');

/** A table that has its trigger is not locked. */
const postgresGuard = (place: string): string => `
  do $guard$ begin
    if to_regproc('${REFUSE_FUNCTION}') is null then ${CREATE_REFUSE_FUNCTION}; end if;
    if not exists (select from pg_trigger where tgrelid = ${literal(place)}::regclass and tgname = '${GUARD}') then
      create trigger ${GUARD} before insert or update or delete or truncate on ${place} for each statement
        when (current_setting(${literal(GUARD_SETTING)}, true) is distinct from 'ours')
        execute function ${REFUSE_FUNCTION}('table');
    end if;
  end $guard$`;

const NOBODY = '-9223372036854775807'; // No record of the service has this id.

type TableToProve = ReturnType<typeof toProve>;

/** A table, with a script that writes a row and removes it. */
function toProve(table: string, id: string, row: string) {
  const name = identifier(table);
  const own = `where ${id} = ${NOBODY}`;
  const script = `insert into ${name} ${row}; update ${name} set ${id} = ${id} ${own}; delete from ${name} ${own};`;
  return { name: table, script };
}

/**
 * Proves that a session may write the tables of these kinds, by rows that are written and rolled back. A process that could send
 * and not store the answer must not begin.
 * @throws {MirrorError} `mirror.refuses_writes` if a table refuses rows.
 */
export async function proveWrites(session: Session, kinds: readonly Kind[]): Promise<void> {
  const record = `(id, _first_seen_at, _changed_at, _response, _raw)
    values (${NOBODY}, current_timestamp, current_timestamp, 0, '{}')`;
  const element = `(parent_id, position) values (${NOBODY}, 0)`;
  const tables = kinds.flatMap((kind) => [
    toProve(kind.name, 'id', record),
    ...nestedTables(kind).map((table) => toProve(table.name, 'parent_id', element)),
  ]);
  await prove(session, tables);
}

/** What a trigger, a rule or a column of somebody else makes of a statement. */
const REFUSALS: readonly string[] = ['mirror.fault', 'mirror.unreadable_schema'];

/** All in one script; only where that fails, one by one, to name the table. */
async function prove(session: Session, tables: readonly TableToProve[]): Promise<void> {
  const rolledBack = new Error('Rolled back.');
  try {
    await session.atomically(async (tx) => {
      await tx.execute(tables.map((table) => table.script).join('\n'));
      throw rolledBack;
    });
  } catch (cause) {
    if (cause === rolledBack) return;
    const [table] = tables;
    const isOfRows = !(cause instanceof MirrorError) || REFUSALS.includes(cause.code);
    if (!isOfRows || table === undefined) throw cause; // The database is away, locked or full.
    if (tables.length > 1) for (const one of tables) await prove(session, [one]);
    const answer = cause instanceof MirrorError ? cause.cause : cause;
    const why = answer instanceof Error ? answer.message : String(answer);
    throw new MirrorError(
      `The table ${table.name} of ${session.location} rejects our rows (${why}), so nothing is sent.`,
      {
        code: 'mirror.refuses_writes',
        hint: 'Remove the trigger or rule that rejects them, or grant our user the rights on the table; then restart.',
        cause,
      },
    );
  }
}
