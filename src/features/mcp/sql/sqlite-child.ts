import { constants as system, setPriority } from 'node:os';
import { DatabaseSync, constants, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { identifier } from '../../../db/session/sql-text.ts';
import { FUNCTIONS, LONGEST_SQL, MOST_BYTES, type SqlAnswer, type SqlQuestion } from './question.ts';

/**
 * The process that answers one select over a SQLite mirror and then ends. It is a process of its own because SQLite works
 * without the event loop: its parent can end it at any moment.
 */

/** The message to the process. */
export type ChildQuestion = SqlQuestion & { readonly path: string };

/** Its reply: the answer, or why there is none. */
export type ChildAnswer =
  | { readonly is: 'answer'; readonly answer: SqlAnswer }
  | { readonly is: 'refused' | 'unguarded'; readonly reason: string };

const LIMITS = { length: 4_000_000, sqlLength: LONGEST_SQL + 1, column: 500, exprDepth: 500, attach: 0 };
const BUSY_MS = 2_000;
/** Table-valued functions that read nothing but their argument. */
const ARGUMENT_READERS = ['json_each', 'json_tree'];

process.once('message', (question: ChildQuestion) => {
  setPriority(system.priority.PRIORITY_LOW); // Sweeps come first.
  process.send?.(answerOf(question), () => {
    process.disconnect();
  });
});

function answerOf(question: ChildQuestion): ChildAnswer {
  try {
    using mirror = new DatabaseSync(question.path, { readOnly: true, timeout: BUSY_MS });
    const isGuarded = 'setAuthorizer' in mirror && 'limits' in mirror;
    if (question.views !== null && !isGuarded) return { is: 'unguarded', reason: process.version };
    const views = question.views === null ? [] : checkSelect(mirror, question.sql, question.views);
    const statement = mirror.prepare(question.sql);
    const columns = statement.columns().map((column) => column.name);
    return { is: 'answer', answer: { columns, ...readTexts(statement, question.limit), views } };
  } catch (error) {
    return { is: 'refused', reason: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Refuses everything except one select over the views; returns the views that it reads.
 *
 * SQLite itself checks the text, first against an empty database that has only tables with the names and columns of the views.
 * No other name exists there. On the mirror alone, the authorizer would take a `with` that has the name of a view for that view.
 */
function checkSelect(mirror: DatabaseSync, sql: string, views: readonly string[]): readonly string[] {
  using names = new DatabaseSync(':memory:', { limits: LIMITS });
  const columns = mirror.prepare('select name from pragma_table_info(?)');
  for (const view of views) {
    const list = columns.all(view).map(({ name }) => identifier(String(name)));
    if (list.length > 0) names.exec(`create table ${identifier(view)} (${list.join(', ')})`);
  }
  const read = new Set<string>();
  const parts = new Set<string>();
  names.setAuthorizer((action, table, functionName) => {
    if (action === constants.SQLITE_READ && table !== null) {
      if (views.includes(table)) read.add(table);
      else if (!ARGUMENT_READERS.includes(table)) parts.add(table);
      return constants.SQLITE_OK;
    }
    const isListed = functionName !== null && FUNCTIONS.sqlite.has(functionName.toLowerCase());
    if (action === constants.SQLITE_FUNCTION) return isListed ? constants.SQLITE_OK : constants.SQLITE_DENY;
    return READS.includes(action) ? constants.SQLITE_OK : constants.SQLITE_DENY;
  });
  const statement = names.prepare(sql);
  // `prepare` compiles the first statement only, and ignores the rest.
  if (/[^;\s]/.test(sql.slice(statement.sourceSQL.length))) throw new Error('something follows the select');
  names.prepare(`select 1 from (${statement.sourceSQL.trimEnd().replace(/;$/, '')}\n)`); // A select alone can stand here, no `explain`.
  names.setAuthorizer(null);
  for (const part of parts) if (isTable(names, part)) throw new Error(`there is no view ${part}`);
  Object.assign(mirror.limits, LIMITS);
  mirror.setAuthorizer((action, table, column, ...[, view]) => {
    // SQLite names no view where the rows of an inner table are only counted.
    const isOfView =
      view !== null || column === '' || table === null || views.includes(table) || parts.has(table);
    if (action === constants.SQLITE_READ && !isOfView && !ARGUMENT_READERS.includes(table))
      return constants.SQLITE_DENY;
    return INNER_READS.includes(action) ? constants.SQLITE_OK : constants.SQLITE_DENY;
  });
  return [...read];
}

/** Whether a name stands for a table of SQLite's own, and not for a part of a `with recursive`, which nothing else has. */
function isTable(names: DatabaseSync, name: string): boolean {
  try {
    return names.prepare(`select 1 from ${identifier(name)}`).columns().length > 0;
  } catch {
    return false;
  }
}

const READS = [constants.SQLITE_SELECT, constants.SQLITE_RECURSIVE];
const INNER_READS = [...READS, constants.SQLITE_READ, constants.SQLITE_FUNCTION];

/** The rows of a select; numbers with a fraction or beyond 64 bits are the doubles that SQLite calculates with. */
function readTexts(statement: StatementSync, limit: number) {
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const rows: (string | null)[][] = [];
  let bytes = 0;
  for (const row of statement.iterate() as Iterable<readonly SQLOutputValue[]>) {
    if (rows.length === limit || bytes > MOST_BYTES) return { rows, isTruncated: true };
    const texts = row.map(textOf);
    for (const text of texts) bytes += String(text).length;
    rows.push(texts);
  }
  return { rows, isTruncated: false };
}

function textOf(value: SQLOutputValue): string | null {
  if (value === null) return null;
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);
}
