import { MirrorError } from '../session/errors.ts';
import type { Connection } from './connection.ts';
import { LOCKED, WRITER_BUSY } from './errors.ts';

/**
 * Each of our transactions locks one row, the row `writer`, with its first statement. So stores may read and then write, as
 * in SQLite with its single writer, and `changes.seq` rises in the order of commits. Only a role with rights on our tables
 * can take this lock.
 */
const WRITER_KEY = 'writer';
const BEGIN = 'begin isolation level read committed';
const XID = 'select pg_current_xact_id()::text as xid';
const IN_TURN = `${BEGIN}; select key from mirror_meta where key = '${WRITER_KEY}' for update; ${XID}`;

/**
 * A database that is not a mirror yet has no such row: processes that are about to create the mirror take this advisory lock.
 */
const FIRST_SETUP_LOCK = 7_237_970_109;
const IN_FIRST_TURN = `${BEGIN}; select pg_advisory_xact_lock(${FIRST_SETUP_LOCK}); ${XID};
  select to_regclass('mirror_meta') is not null as is_mirror`;

const NO_SUCH_TABLE = '42P01';

/**
 * Begins a transaction once no other bms-sync writes to this database, in one round trip.
 *
 * @returns The transaction's id, by which the server can later tell whether it landed.
 * @throws {MirrorError} `mirror.writer_busy` if another one is still writing after the connection's `lock_timeout`.
 */
export async function beginInTurn(connection: Connection): Promise<string> {
  for (;;) {
    const xid = await tryRow(connection);
    if (xid !== null) return xid;
  }
}

/** Null if the row had to be inserted first. */
async function tryRow(connection: Connection): Promise<string | null> {
  try {
    const [, locked, begun] = await waiting(connection.script(IN_TURN));
    if (locked?.rows.length === 1) return String(begun?.rows[0]?.['xid']);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === NO_SUCH_TABLE)) throw error;
    await connection.script('rollback');
    return firstTurn(connection);
  }
  await connection.script('rollback');
  await connection.script(
    `insert into mirror_meta (key, value) values ('${WRITER_KEY}', '') on conflict do nothing`,
  );
  return null;
}

/** Null if another process has created the mirror meanwhile. */
async function firstTurn(connection: Connection): Promise<string | null> {
  const [, , begun, found] = await waiting(connection.script(IN_FIRST_TURN));
  if (found?.rows[0]?.['is_mirror'] === 0) return String(begun?.rows[0]?.['xid']);
  await connection.script('rollback');
  return null;
}

async function waiting<T>(turn: Promise<T>): Promise<T> {
  try {
    return await turn;
  } catch (error) {
    if (!(error instanceof MirrorError && error.code === LOCKED)) throw error;
    throw new MirrorError(error.message, { code: WRITER_BUSY, hint: error.hint ?? '', cause: error });
  }
}
