import type { Session } from '../../src/db/session/session.ts';
import { postgresMirror } from '../both/support.ts';
import { TWO_KINDS } from '../support/postgres-templates.ts';
import { tempMirror } from './temp-mirror.ts';

/** Both databases, each with a way to a mirror of clients and products that goes when the test ends. */
export const DATABASES: readonly (readonly [name: string, open: () => Promise<Session>])[] = [
  ['SQLite', () => tempMirror(TWO_KINDS)],
  ['PostgreSQL', async () => (await postgresMirror('template_two_kinds')).session],
];

/** Where only what stands above the session is shown, which knows no database. */
export const ONE_DATABASE = DATABASES.slice(0, 1);
