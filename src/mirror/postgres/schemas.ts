import { identifier } from '../session/sql-text.ts';

/** The schemas in PostgreSQL; a SQLite file has none. */

/** The schema of all tables; analysts' tools need not show it. */
export const TABLES_SCHEMA = 'bms_sync';
/** The schema of the analysts' views. */
export const VIEWS_SCHEMA = 'public';

/** The search path of our connections, so that the same SQL finds tables and views on both databases. */
export const SEARCH_PATH = `${TABLES_SCHEMA}, ${VIEWS_SCHEMA}`;

/** Whether a name is that of an analysts' view; no table's name begins like that. */
export const isViewName = (name: string): boolean => name.startsWith('bi_') || name === 'client_contacts';

/** The quoted name of a table or view with its schema; an object of that name elsewhere is not ours. */
export function placeOf(name: string): string {
  return `${isViewName(name) ? VIEWS_SCHEMA : TABLES_SCHEMA}.${identifier(name)}`;
}
