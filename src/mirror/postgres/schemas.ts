import { identifier } from '../session/identifier.ts';

/** Where things are in PostgreSQL; a SQLite file has no such places. */

/** Of all tables: analysts' tools need not show it. */
export const TABLES_SCHEMA = 'bms_sync';
/** Of the analysts' views. */
export const VIEWS_SCHEMA = 'public';

/** What our connections look through: the same SQL finds tables and views on both databases. */
export const SEARCH_PATH = `${TABLES_SCHEMA}, ${VIEWS_SCHEMA}`;

/** Whether a name is that of an analysts' view: no table's begins so. */
export const isViewName = (name: string): boolean => name.startsWith('bi_') || name === 'client_contacts';

/** The name of a table or view with its schema, quoted: what else is called so somewhere is not ours. */
export function placeOf(name: string): string {
  return `${isViewName(name) ? VIEWS_SCHEMA : TABLES_SCHEMA}.${identifier(name)}`;
}
