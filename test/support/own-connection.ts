import Database from 'better-sqlite3';
import { GUARD_FUNCTION } from '../../src/db/session/write-guard.ts';

/** Opens a SQLite mirror with the right to write its kind tables, for states that only a bug or a failing disk makes. */
export function ownConnection(path: string): Database.Database {
  const file = new Database(path);
  file.function(GUARD_FUNCTION, () => null);
  return file;
}
