import { freshDatabaseUrl } from './postgres.ts';
import { grownMirror } from './sqlite-templates.ts';

/** Makes a mirror with the columns that the sandbox's records bring, in either database; answers its address. */
export const GROWN_URLS = {
  SQLite: async (): Promise<string> => `file:${await grownMirror()}`,
  PostgreSQL: (): Promise<string> => freshDatabaseUrl('template_grown'),
};
