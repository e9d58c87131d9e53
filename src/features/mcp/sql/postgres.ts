import { Socket } from 'node:net';
import { locationOf, openConnection, type Connection } from '../../../db/postgres/connection.ts';
import { isConnectionLost } from '../../../db/postgres/errors.ts';
import { identifier, VIEWS_SCHEMA } from '../../../db/session/sql-text.ts';
import type { SqlValue } from '../../../db/session/session.ts';
import { errorCode, SyncError } from '../../../lib/sync-error.ts';
import { checkSelect } from './postgres-select.ts';
import {
  MOST_BYTES,
  refusedError,
  tooLargeError,
  tooLongError,
  type SqlAnswer,
  type SqlQuestion,
} from './question.ts';

const LOCK_TIMEOUT_MS = 2_000;
/** More than the rows of an answer may have, because their size on the wire is not known. */
const MOST_RECEIVED = 8 * MOST_BYTES;
const CHECK_MS = 20;

/**
 * Answers a select over a PostgreSQL mirror, on a connection of its own, in a read-only transaction.
 *
 * @param role Whose rights count: `bi.readerRole`; null: those of our own user.
 * @param ended Cancels the query. The promise is settled only once the server has ended it.
 * @throws {SyncError} `mcp.refused`, `mcp.too_long`, `mcp.too_large`; `mcp.no_reader` if a stranger's select has no role.
 */
export async function readPostgres(
  url: string,
  role: string | null,
  question: SqlQuestion,
  ended: AbortSignal,
): Promise<SqlAnswer> {
  const { sql, views } = question;
  if (views !== null && role === null)
    throw noReaderError('bi.readerRole names no role that may read the views alone');
  const select = views === null ? { text: sql, views: [] } : await checkSelect(sql, views);
  const socket = new Socket();
  const stream = (): Socket => socket;
  const connection = await openConnection({ ...targetOf(url), stream });
  const watch = setInterval(() => {
    if (socket.bytesRead > MOST_RECEIVED) socket.destroy();
  }, CHECK_MS);
  try {
    const [own] = await connection.runScript('select pg_backend_pid() as pid');
    ended.addEventListener('abort', () => void cancelBackend(url, own?.rows[0]?.['pid'] ?? null));
    if (views !== null) await checkResolved(connection, role, { ...question, sql: select.text, views });
    return { ...(await fetchRows(connection, role, { ...question, sql: select.text })), views: select.views };
  } catch (error) {
    if (isConnectionLost(error) && socket.bytesRead > MOST_RECEIVED) throw tooLargeError();
    throw queryError(error, question.timeoutMs);
  } finally {
    clearInterval(watch);
    await connection.close();
  }
}

/** Turns PostgreSQL's errors about the query into ours; returns other errors unchanged. */
function queryError(error: unknown, timeoutMs: number): unknown {
  // The session takes a name that does not exist for one that is gone.
  const cause = error instanceof SyncError && error.cause instanceof Error ? error.cause : error;
  const code = errorCode(cause);
  if (code === '42P01' || code === '42501') return refusedError('it reads what is no view');
  if (code === '57014') return tooLongError(timeoutMs);
  const isOfQuery = cause === error ? /^[\dA-Z]{5}$/.test(code) : code.startsWith('42');
  return isOfQuery && cause instanceof Error ? refusedError(cause.message) : error;
}

const targetOf = (url: string) => ({ url, location: locationOf(url), lockTimeoutMs: LOCK_TIMEOUT_MS });

const RIGHT_MISSING = 'mirror.not_writable';

/** Asks the server to end a query; if it cannot, the query's own limit ends it. */
async function cancelBackend(url: string, pid: SqlValue): Promise<void> {
  const other = await openConnection(targetOf(url)).catch(() => null);
  await other?.queryRows({ text: 'select pg_cancel_backend($1)', values: [pid] }).catch(() => undefined);
  await other?.close();
}

/**
 * Checks what the server takes the names of a select for, in a view that is never committed: `c.f` may be a column, or the call of a
 * function.
 */
async function checkResolved(
  connection: Connection,
  role: string | null,
  { sql, views, timeoutMs }: SqlQuestion & { readonly views: readonly string[] },
): Promise<void> {
  await begin(connection, 'read write', role, timeoutMs);
  const create = `create temporary view asked as select 1 as n from (${sql}\n) as t`;
  await connection.queryRows({ text: create, queryMode: 'extended' }); // In which a text is one statement.
  await connection.runScript('set local search_path = pg_catalog'); // So that every other name shows its schema.
  const { rows } = await connection.queryArrays({ text: DEFINITION, rowMode: 'array' });
  await connection.runScript('rollback');
  const definition = String(rows[0]?.[0]);
  if (definition.length > LONGEST_DEFINITION) throw refusedError('it has too many columns');
  await checkSelect(definition, views);
}

const LONGEST_DEFINITION = 200_000;
const DEFINITION = `select left(pg_get_viewdef('pg_temp.asked'::regclass), ${LONGEST_DEFINITION + 1})`;

async function begin(
  connection: Connection,
  mode: 'read only' | 'read write',
  role: string | null,
  timeoutMs: number,
): Promise<void> {
  await connection.runScript(`begin isolation level repeatable read ${mode}; ${connection.settings}`);
  await connection.runScript(
    `set local statement_timeout = ${timeoutMs}; set local search_path = ${VIEWS_SCHEMA};
    set local max_parallel_workers_per_gather = 0; set local jit = off; set local work_mem = '1MB'; set local hash_mem_multiplier = 1`,
  );
  if (role !== null) await becomeReader(connection, role);
}

async function fetchRows(
  connection: Connection,
  role: string | null,
  { sql, limit, timeoutMs }: SqlQuestion,
): Promise<Omit<SqlAnswer, 'views'>> {
  await begin(connection, 'read only', role, timeoutMs);
  const declare = `declare answer no scroll cursor for ${sql}`;
  await connection.queryRows({ text: declare, queryMode: 'extended' });
  const fetch = { text: `fetch ${limit + 1} from answer`, rowMode: 'array' as const };
  const { fields, rows } = await connection.queryArrays(fetch);
  const columns = fields.map((field) => field.name);
  return {
    columns,
    rows: rows.slice(0, limit).map((row) => row.map((value) => (value === null ? null : String(value)))),
    isTruncated: rows.length > limit,
  };
}

async function becomeReader(connection: Connection, role: string): Promise<void> {
  try {
    await connection.runScript(`set local role ${identifier(role)}`);
  } catch (error) {
    if (errorCode(error) !== RIGHT_MISSING) throw error;
    throw noReaderError(`the user of DATABASE_URL may not become ${role}`);
  }
}

const noReaderError = (reason: string): SyncError =>
  new SyncError(`query is off: ${reason}.`, {
    code: 'mcp.no_reader',
    hint: 'Set bi.readerRole, and let the user of DATABASE_URL use it: grant ROLE to USER. The other tools work.',
  });
