import { askPython } from './ask.ts';
import { DIGITS_15, DOUBLES, EXACT, types, type Client } from './client.ts';
import type { DatabaseName } from './mirrors.ts';

const PYTHON = { ask: askPython, runs: true } as const;

const pandas = (database: DatabaseName): Client => ({
  ...PYTHON,
  name: 'pandas',
  page: 'pandas',
  section: database,
  database,
  exactness: DOUBLES,
  guesses: true,
  types: types({
    integer: 'int64[pyarrow]',
    decimal: 'double[pyarrow]',
    text: 'string[pyarrow]',
    date: 'string[pyarrow]',
    time: 'string[pyarrow]',
    ...(database === 'SQLite'
      ? { timestamp: 'string[pyarrow]', instant: 'string[pyarrow]' }
      : {
          timestamp: 'timestamp[us][pyarrow]',
          instant: 'timestamp[us, tz=Etc/UTC][pyarrow] | timestamp[us, tz=UTC][pyarrow]',
        }),
  }),
});

/** How polars names a time without a zone, and one of UTC. */
const NAIVE = "Datetime(time_unit='us', time_zone=None)";
const UTC = "Datetime(time_unit='us', time_zone='UTC')";

const POLARS: readonly Client[] = [
  {
    ...PYTHON,
    name: 'polars by ADBC',
    page: 'polars',
    section: 'SQLite',
    database: 'SQLite',
    exactness: DOUBLES,
    guesses: true,
    types: types({
      integer: 'Int64',
      decimal: 'Float64',
      text: 'String',
      date: 'String',
      time: 'String',
      timestamp: 'String',
      instant: 'String',
    }),
  },
  {
    ...PYTHON,
    name: 'polars',
    page: 'polars',
    section: 'SQLite by connectorx',
    database: 'SQLite',
    exactness: DOUBLES,
    types: types({
      integer: 'Int64',
      decimal: 'Float64',
      text: 'String',
      date: 'Date',
      time: 'String',
      timestamp: NAIVE,
      instant: NAIVE,
    }),
  },
  {
    ...PYTHON,
    name: 'polars by connectorx',
    page: 'polars',
    section: 'PostgreSQL',
    database: 'PostgreSQL',
    exactness: EXACT,
    types: types({
      integer: 'Int64 | Int32',
      decimal: 'Decimal(precision=38, scale=10)',
      text: 'String',
      date: 'Date',
      time: 'Time',
      timestamp: NAIVE,
      instant: UTC,
    }),
  },
  {
    ...PYTHON,
    name: 'polars',
    page: 'polars',
    section: 'PostgreSQL by ADBC',
    database: 'PostgreSQL',
    exactness: EXACT,
    types: types({
      integer: 'Int64 | Int32',
      text: 'String',
      date: 'Date',
      time: 'Time',
      timestamp: NAIVE,
      instant: UTC,
      decimal: `Extension('arrow.opaque', String, '{"type_name": "numeric", "vendor_name": "PostgreSQL"}')`,
    }),
  },
];

/** What DuckDB attaches. */
const ATTACHED: readonly Client[] = [
  {
    ...PYTHON,
    name: 'DuckDB',
    page: 'duckdb',
    section: 'SQLite',
    database: 'SQLite',
    exactness: DOUBLES,
    unread: ['bi_calendar', 'bi_price_changes', 'bi_statuses'],
    untyped: ['bi_changes', 'bi_issues'],
    types: types({
      integer: 'BIGINT',
      decimal: 'DOUBLE',
      text: 'VARCHAR',
      date: 'DATE',
      time: 'VARCHAR',
      timestamp: 'TIMESTAMP',
      instant: 'TIMESTAMP',
    }),
  },
  {
    ...PYTHON,
    name: 'DuckDB',
    page: 'duckdb',
    section: 'PostgreSQL',
    database: 'PostgreSQL',
    exactness: EXACT,
    types: types({
      integer: 'BIGINT | INTEGER',
      decimal: 'DECIMAL(38,10)',
      text: 'VARCHAR',
      date: 'DATE',
      time: 'TIME',
      timestamp: 'TIMESTAMP',
      instant: 'TIMESTAMP WITH TIME ZONE',
    }),
  },
];

const odbc = (database: DatabaseName): Client => ({
  ...PYTHON,
  name: 'ODBC',
  page: 'odbc',
  section: database,
  database,
  exactness: database === 'SQLite' ? DIGITS_15 : EXACT,
  types: types({
    integer: 'int',
    text: 'str',
    date: 'date',
    timestamp: 'datetime',
    instant: 'datetime',
    ...(database === 'SQLite' ? { decimal: 'float', time: 'str' } : { decimal: 'Decimal', time: 'time' }),
  }),
});

const ibis = (database: DatabaseName, snapshot?: true): Client => ({
  ...PYTHON,
  name: snapshot ? 'ibis, by the snapshot,' : 'ibis',
  page: 'ibis',
  section: database,
  database,
  ...(snapshot && { snapshot }),
  exactness: database === 'SQLite' ? { integers: 'double', decimals: 'double' } : EXACT,
  types: types({
    integer: 'int64 | int32',
    text: 'string',
    date: 'date',
    ...(database === 'SQLite'
      ? { decimal: 'float64', time: 'string', timestamp: 'timestamp', instant: 'timestamp' }
      : {
          decimal: 'decimal(38, 10)',
          time: 'time',
          timestamp: 'timestamp(6)',
          instant: "timestamp('UTC', 3) | timestamp('UTC', 6)",
        }),
  }),
});

/** LangChain and LlamaIndex: both read by SQLAlchemy, a snapshot in the place of the mirror's own file. */
const assistant = (name: string, page: string, database: DatabaseName): Client => ({
  ...PYTHON,
  name,
  page,
  section: database,
  database,
  ...(database === 'SQLite' && { snapshot: true }),
  exactness: database === 'SQLite' ? DOUBLES : EXACT,
  types: null,
});

/** The clients whose pages are in Python. */
export const PYTHON_CLIENTS: readonly Client[] = [
  pandas('SQLite'),
  pandas('PostgreSQL'),
  ...POLARS,
  ...ATTACHED,
  odbc('SQLite'),
  odbc('PostgreSQL'),
  ibis('SQLite'),
  ibis('SQLite', true),
  ibis('PostgreSQL'),
  assistant('LangChain', 'langchain', 'SQLite'),
  assistant('LangChain', 'langchain', 'PostgreSQL'),
  assistant('LlamaIndex', 'llamaindex', 'SQLite'),
  assistant('LlamaIndex', 'llamaindex', 'PostgreSQL'),
];
