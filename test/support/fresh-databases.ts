import { freshDatabaseUrl } from './postgres.ts';
import { freshMirror } from './temp-folder.ts';

/** Both databases, each with a way to an address at which there is no mirror yet; it is gone when the test ends. */
export const FRESH_DATABASES = [
  ['SQLite', () => Promise.resolve(`file:${freshMirror()}`)],
  ['PostgreSQL', () => freshDatabaseUrl()],
] as const;
