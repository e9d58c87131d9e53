import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { freshDatabaseUrl } from './postgres.ts';
import { copyMirror, grownMirror } from './sqlite-templates.ts';
import { freshMirror } from './temp-folder.ts';

/** Makes a mirror with the columns that the sandbox's records bring, in either database; answers its address. */
export const GROWN_URLS = {
  SQLite: async (): Promise<string> => `file:${await grownMirror()}`,
  PostgreSQL: (): Promise<string> => freshDatabaseUrl('template_grown'),
};

/** The same with the columns of documented fields alone. */
export const DOCUMENTED_URLS = {
  SQLite: async (): Promise<string> => {
    const path = freshMirror();
    await copyMirror(path, KINDS);
    return `file:${path}`;
  },
  PostgreSQL: (): Promise<string> => freshDatabaseUrl('template_all_kinds'),
};
