import { MirrorError } from '../session/errors.ts';
import type { Connection } from './connection.ts';
import { LOCKED, WRITER_BUSY } from './errors.ts';

/**
 * One row of ours is locked by each transaction of ours from its first statement on. So the stores may read and then write,
 * as in SQLite, where a file has one writer at a time, and `changes.seq` rises in the order of commits. Only a role with
 * rights on our tables can take this lock.
 */
const WRITER_KEY = 'writer';
const BEGIN = 'begin isolation level read committed';
const XID = 'select pg_current_xact_id()::text as xid';
const IN_TURN = `${BEGIN}; select key from mirror_meta where key = '${WRITER_KEY}' for update; ${XID}`;

/** A database that is no mirror yet has no such row: those who are about to make one out of it wait for each other so. */
const FIRST_SETUP_LOCK = 7_237_970_109;
const IN_FIRST_TURN = `${BEGIN}; select pg_advisory_xact_lock(${FIRST_SETUP_LOCK}); ${XID};
  select to_regclass('mirror_meta') is not null as is_mirror`;

const NO_SUCH_TABLE = '42P01';

/**
 * Begins a transaction once no other bms-sync writes to this database, by one round trip.
 *
 * @returns The transaction's number, by which the server tells later whether it landed.
 * @throws {MirrorError} `mirror.writer_busy` where another one is still at it after the connection's `lock_timeout`.
 */
export async function beginInTurn(connection: Connection): Promise<string> {
  for (;;) {
    const xid = await tryRow(connection);
    if (xid !== null) return xid;
  }
}

/** Null where the row had to be made first. */
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

/** Null where somebody else has made the mirror meanwhile. */
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
