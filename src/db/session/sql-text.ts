/** Quotes a table or column name for SQL; it may contain any character. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The end of an insert that gives a row with the same id the new values. */
export function onConflictUpdate(columns: readonly string[]): string {
  const updatedColumns = columns.filter((column) => column !== 'id').map(identifier);
  if (updatedColumns.length === 0) return ' on conflict (id) do nothing';
  return ` on conflict (id) do update set ${updatedColumns.map((column) => `${column} = excluded.${column}`).join(', ')}`;
}

/** The end of an insert that leaves out rows whose value in a unique column exists, and returns the others' ids. */
export const onConflictSkip = (key: string): string =>
  ` on conflict (${identifier(key)}) do nothing returning id, ${identifier(key)}`;

/** Quotes a text for the few statements that cannot have parameters: views and comments. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * Takes the escapes out of an expression of JSON text. PostgreSQL reads no member of a text in which any escape stands for NUL or half a
 * character; `\/` stands for a slash, also behind an escaped backslash. Text with such an escape is not kept.
 */
export const withoutEscapes = (json: string): string => String.raw`replace(${json}, '\u', '\/')`;

const VALUES_A_STATEMENT = 1_000;

/** Splits values over several statements with a limited number of parameters each. */
export function inChunks<T>(values: readonly T[], size = VALUES_A_STATEMENT): readonly (readonly T[])[] {
  const chunks: (readonly T[])[] = [];
  for (let from = 0; from < values.length; from += size) chunks.push(values.slice(from, from + size));
  return chunks;
}

/** The schema of all tables in PostgreSQL; analysts' tools need not show it. A SQLite file has no schemas. */
export const TABLES_SCHEMA = 'bms_sync';
/** The schema of the analysts' views. */
export const VIEWS_SCHEMA = 'public';

/** The search path of our connections, so that the same SQL finds tables and views on both databases. */
export const SEARCH_PATH = `${TABLES_SCHEMA}, ${VIEWS_SCHEMA}`;

/** The first name of `bi_clients_contacts`; reports go on reading it, and the dictionary leaves it out. */
export const OLD_CONTACTS = 'client_contacts';

/** Whether a name is that of an analysts' view; no table's name begins like that. */
export const isViewName = (name: string): boolean => name.startsWith('bi_') || name === OLD_CONTACTS;

/** The quoted name of a table or view with its schema; an object of that name elsewhere is not ours. */
export function qualifiedName(name: string): string {
  return `${isViewName(name) ? VIEWS_SCHEMA : TABLES_SCHEMA}.${identifier(name)}`;
}
