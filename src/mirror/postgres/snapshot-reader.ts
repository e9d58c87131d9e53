import { locationOf, openConnection } from './connection.ts';
import { runStatement } from './statements.ts';
import type { Row } from '../session/session.ts';
import type { SQL } from 'drizzle-orm';

const LOCK_TIMEOUT_MS = 2_000;

/** Reads a database as it is at one instant, however long that takes and whatever is written meanwhile. */
interface SnapshotReader extends AsyncDisposable {
  readonly dialect: 'postgres';
  query(statement: SQL): Promise<Row[]>;
}

/** Opens a connection of its own whose queries all see the same instant. */
export async function openSnapshotReader(url: string): Promise<SnapshotReader> {
  const target = { url, location: locationOf(url), lockTimeoutMs: LOCK_TIMEOUT_MS };
  const connection = await openConnection(target, 'reads');
  await connection.script('begin isolation level repeatable read read only');
  return {
    dialect: 'postgres',
    query: (statement) => runStatement(connection, statement),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
