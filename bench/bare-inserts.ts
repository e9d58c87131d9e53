import Sqlite from 'better-sqlite3';
import { openWriter } from '../src/db/sqlite/connection.ts';

/** A transaction of a first pull holds up to 32 pages. */
const ROWS_TOGETHER = 3_200;
const PARENTS = 'clients';
const ELEMENTS = 'clients_contacts';

/**
 * Copies the tables of clients from a mirror into a new file, in the order in which they were written, by the plainest
 * statements. A first pull does the same after it has read, checked, decoded and compared the rows.
 *
 * @returns The seconds that the statements and commits took.
 */
export function insertBare(mirror: string, copy: string): number {
  const source = new Sqlite(mirror, { readonly: true });
  const schema = source
    .prepare(
      `select sql from sqlite_master where tbl_name in (?, ?) and sql is not null and type in ('table', 'index')
      order by type desc`,
    )
    .pluck()
    .all(PARENTS, ELEMENTS) as string[];
  const parents = rowsOf(source, PARENTS);
  const elements = rowsOf(source, ELEMENTS);
  source.close();
  const target = openWriter(copy);
  for (const statement of schema) target.exec(statement);
  const putParent = inserterOf(target, PARENTS);
  const putElement = inserterOf(target, ELEMENTS);
  const elementsTogether = Math.ceil((elements.length * ROWS_TOGETHER) / parents.length);
  const start = performance.now();
  for (let at = 0; at * ROWS_TOGETHER < parents.length; at++) {
    target.exec('begin immediate');
    for (const row of parents.slice(at * ROWS_TOGETHER, (at + 1) * ROWS_TOGETHER)) putParent.run(row);
    for (const row of elements.slice(at * elementsTogether, (at + 1) * elementsTogether)) putElement.run(row);
    target.exec('commit');
  }
  const seconds = (performance.now() - start) / 1000;
  target.close();
  return seconds;
}

function rowsOf(source: Sqlite.Database, table: string): unknown[][] {
  return source.prepare(`select * from ${table} order by rowid`).raw().all() as unknown[][];
}

function inserterOf(target: Sqlite.Database, table: string): Sqlite.Statement {
  const { length } = target.pragma(`table_info(${table})`) as unknown[];
  return target.prepare(`insert into ${table} values (${Array.from({ length }, () => '?').join(', ')})`);
}
