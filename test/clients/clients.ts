import { askJava, askR, askShell } from './ask.ts';
import { askDrizzle } from './ask-drizzle.ts';
import { askDatasette, askSuperset } from './ask-servers.ts';
import { DIGITS_15, DOUBLES, EXACT, types, type Client } from './client.ts';
import type { DatabaseName, Sort } from './mirrors.ts';
import { PYTHON_CLIENTS } from './python-clients.ts';

const shell = (name: string, database: DatabaseName): Client => ({
  name,
  page: 'shells',
  section: database,
  database,
  ask: askShell,
  runs: true,
  types: null,
  exactness: database === 'SQLite' ? DIGITS_15 : EXACT,
});

const jdbc = (section: string, database: DatabaseName, cannot: readonly Sort[]): Client => ({
  name: 'JDBC',
  page: 'jdbc',
  section,
  database,
  ask: askJava,
  cannot,
  exactness: database === 'SQLite' ? DOUBLES : EXACT,
  types: types({
    integer: 'BIGINT | INTEGER',
    text: 'VARCHAR',
    date: 'DATE',
    timestamp: 'TIMESTAMP',
    instant: 'TIMESTAMP',
    ...(database === 'SQLite' ? { decimal: 'REAL', time: 'VARCHAR' } : { decimal: 'NUMERIC', time: 'TIME' }),
  }),
});

const r = (database: DatabaseName): Client => ({
  name: 'R',
  page: 'r',
  section: database,
  database,
  ask: askR,
  runs: true,
  guesses: true,
  exactness: database === 'SQLite' ? DOUBLES : { integers: 'double', decimals: 'double' },
  types: types({
    integer: database === 'SQLite' ? 'integer | integer64' : 'integer | numeric',
    decimal: 'numeric',
    text: 'character',
    date: 'Date',
    time: 'character',
    timestamp: 'POSIXct',
    instant: 'POSIXct',
  }),
});

const superset = (database: DatabaseName): Client => ({
  name: 'Superset',
  page: 'superset',
  section: database,
  database,
  ...(database === 'SQLite' && { snapshot: true }),
  ask: askSuperset,
  exactness: database === 'SQLite' ? DOUBLES : EXACT,
  types: types({
    integer: 'NUMERIC',
    decimal: 'NUMERIC',
    text: 'STRING',
    date: 'TEMPORAL',
    timestamp: 'TEMPORAL',
    instant: 'TEMPORAL',
    time: database === 'SQLite' ? 'STRING' : 'TEMPORAL',
  }),
});

const DRIZZLE: readonly Client[] = [
  {
    name: 'Drizzle',
    page: 'drizzle',
    section: 'SQLite',
    database: 'SQLite',
    snapshot: true,
    ask: askDrizzle,
    runs: true,
    unread: ['client_contacts'], // The page asks for `bi_…`.
    exactness: { integers: 'double', decimals: 'double' },
    types: types({
      integer: 'integer',
      decimal: 'real',
      text: 'text',
      date: 'numeric',
      time: 'text | numeric',
      timestamp: 'numeric',
      instant: 'numeric',
    }),
  },
  {
    name: 'Drizzle',
    page: 'drizzle',
    section: 'PostgreSQL',
    database: 'PostgreSQL',
    ask: askDrizzle,
    runs: true,
    unread: ['client_contacts'], // The page asks for `bi_…`.
    exactness: { integers: 'double', decimals: 'exact' },
    types: types({
      integer: 'bigint | integer',
      decimal: 'numeric(38, 10)',
      text: 'text',
      date: 'date',
      time: 'time',
      timestamp: 'timestamp | timestamp(6)',
      instant: 'timestamp(3) with time zone | timestamp(6) with time zone | timestamp with time zone',
    }),
  },
];

const DATASETTE: Client = {
  name: 'datasette',
  page: 'datasette',
  section: 'SQLite',
  database: 'SQLite',
  snapshot: true,
  ask: askDatasette,
  exactness: DOUBLES,
  types: null,
};

/** Every client that reads the views, on each database that it reads. */
export const CLIENTS: readonly Client[] = [
  shell('sqlite3', 'SQLite'),
  shell('psql', 'PostgreSQL'),
  ...PYTHON_CLIENTS,
  jdbc('SQLite', 'SQLite', ['timestamp', 'instant']),
  jdbc('SQLite, for instants', 'SQLite', ['date']),
  jdbc('PostgreSQL', 'PostgreSQL', []),
  r('SQLite'),
  r('PostgreSQL'),
  ...DRIZZLE,
  DATASETTE,
  superset('SQLite'),
  superset('PostgreSQL'),
];
