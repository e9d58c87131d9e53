import Sqlite from 'better-sqlite3';
import type { SQL } from 'drizzle-orm';
import { translateErrors } from '../session/errors.ts';
import { runStatementSync } from './connection.ts';

/** Opens the file that is at a path now, to read it only. @throws {MirrorError} If there is none. */
export function openFreshFile(path: string) {
  const file = translateErrors(path, () => new Sqlite(path, { readonly: true }));
  return {
    dialect: 'sqlite' as const,
    query: (statement: SQL) =>
      Promise.resolve().then(() => translateErrors(path, () => runStatementSync(file, statement))),
    [Symbol.asyncDispose]: () => Promise.resolve(file.close()).then(() => undefined),
  };
}
