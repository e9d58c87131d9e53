import type { Socket } from 'node:net';
import PQueue from 'p-queue';
import pg, { type QueryArrayConfig, type QueryConfig } from 'pg';
import { describeFileFault } from '../../lib/sync-error.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { MirrorError } from '../session/errors.ts';
import type { SqlValue } from '../session/session.ts';
import { SEARCH_PATH } from '../session/sql-text.ts';
import { GUARD_SETTING } from '../session/write-guard.ts';
import { isConnectionLost, isReadOnly, postgresError } from './errors.ts';
import { TYPE_PARSERS } from './values.ts';

const MIN_VERSION = 13; // The first version with `pg_xact_status` for 64-bit transaction ids.
const CONNECT_TIMEOUT_MS = 5_000;

export interface Target {
  readonly url: string;
  readonly location: string;
  readonly lockTimeoutMs: number;
  /** Makes the socket, for a caller who watches it. */
  readonly stream?: () => Socket;
}

/** One connection. Throws errors that `postgresError` has translated. Queries are pipelined: answers come in the order of the queries. */
export type Connection = Awaited<ReturnType<typeof openConnection>>;

/**
 * Opens a connection. It has no settings of its own: behind a transaction pooler the server's connection is another one for
 * each transaction, and the next one to use it may be another application. Each transaction begins with `settings`.
 */
export async function openConnection(target: Target) {
  const client = newClient(target);
  let hasEnded = false;
  client.on('error', () => {
    hasEnded = true; // The driver reports it at the next use.
  });
  client.on('end', () => {
    hasEnded = true;
  });
  const translateErrors = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      const fault = postgresError(error, target.location);
      if (isConnectionLost(fault) || isReadOnly(fault)) hasEnded = true;
      throw fault;
    }
  };
  const connection = {
    /** In the extended protocol a text is a single statement even without parameters. */
    queryRows: (query: QueryConfig & { readonly queryMode?: 'extended' }) =>
      translateErrors(client.query<Record<string, SqlValue>>(query)),
    queryArrays: (query: QueryArrayConfig) => translateErrors(client.query<SqlValue[]>(query)),
    /** Sends statements without parameters; each statement has its own result. */
    runScript: async (statements: string) =>
      [await translateErrors(client.query<Record<string, SqlValue>>(statements))].flat(),
    /** True once the server or the network has ended it, or the server takes no writes. */
    isLost: () => hasEnded,
    close: () => client.end(),
  };
  try {
    await translateErrors(client.connect());
    const [versionResult, encodingResult] = await connection.runScript(
      'show server_version_num; show server_encoding',
    );
    const version = Number(versionResult?.rows[0]?.['server_version_num']);
    refuseOldServer(version, target.location);
    refuseNonUtf8(String(encodingResult?.rows[0]?.['server_encoding']), target.location);
    // The statement that gives a transaction its settings, whatever those of server, database and role are.
    return { ...connection, settings: localSettings(target, version) };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function newClient(target: Target): pg.Client {
  try {
    return new pg.Client({
      connectionString: target.url,
      ...(target.stream !== undefined && { stream: target.stream }),
      types: TYPE_PARSERS,
      application_name: 'bms-sync',
      pipeline: true,
      keepAlive: true, // So that this process notices a server that is gone.
      keepAliveInitialDelayMillis: 5_000,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
  } catch (error) {
    const file = error instanceof Error && 'path' in error ? String(error.path) : null;
    if (file === null) throw badAddressError(); // Without its cause, which may quote the address.
    throw new MirrorError(
      `The file ${file}, which DATABASE_URL names for TLS, ${describeFileFault(error)}.`,
      {
        code: 'mirror.no_tls',
        hint: 'Correct sslrootcert, sslcert or sslkey in DATABASE_URL.',
      },
    );
  }
}

/** Refuses a database that cannot hold every character of a record. */
function refuseNonUtf8(encoding: string, location: string): void {
  if (encoding === 'UTF8') return;
  throw new MirrorError(`The database ${location} has the encoding ${encoding}, expected UTF8.`, {
    code: 'mirror.not_utf8',
    hint: 'Create another one: createdb --encoding=UTF8 --template=template0 NAME, and name it in DATABASE_URL.',
  });
}

/** Refuses a server by its `server_version_num`: 120022 is 12.22. */
export function refuseOldServer(version: number, location: string): void {
  if (version >= MIN_VERSION * 10_000) return;
  const shown = `${Math.floor(version / 10_000)}.${version % 10_000}`;
  throw new MirrorError(`The mirror ${location} is PostgreSQL ${shown}, expected ${MIN_VERSION} or later.`, {
    code: 'mirror.postgres_too_old',
    hint: `Upgrade the server to PostgreSQL ${MIN_VERSION} or later, or set DATABASE_URL to another one.`,
  });
}

/**
 * The host, port and database of a PostgreSQL address, without user and password: `postgres://host:5432/db`.
 * @throws {MirrorError} `mirror.bad_address` if it is not an address, or if a part of the password would be read as another
 * part.
 */
export function locationOf(url: string): string {
  const { host, hostname, port, pathname, search, hash, searchParams } = parse(url);
  const rest = `${pathname}${search}${hash}`;
  if (rest.includes('@') || hash !== '' || /^\/.*\//.test(pathname)) throw badAddressError();
  const socket = searchParams.get('host');
  const place = socket ?? (host === '' ? 'localhost' : hostname);
  return `postgres://${place}:${searchParams.get('port') ?? (port === '' ? '5432' : port)}${pathname}`;
}

function parse(url: string): URL {
  try {
    return new URL(url);
  } catch {
    throw badAddressError(); // Without its cause, which holds the address with the password.
  }
}

/** The message quotes no part of the address: any part may be the password. */
function badAddressError(): MirrorError {
  return new MirrorError('DATABASE_URL is not a valid PostgreSQL address.', {
    code: 'mirror.bad_address',
    hint: 'Write postgres://USER:PASSWORD@HOST:5432/DATABASE; in the password write % as %25, @ as %40, / as %2F, # as %23, ? as %3F.',
  });
}

const FIRST_WITH_TRANSACTION_TIMEOUT = 170_000;

/** Every user may set these. */
function localSettings(target: Target, version: number): string {
  const settings = {
    search_path: SEARCH_PATH,
    [GUARD_SETTING]: 'ours',
    TimeZone: 'UTC',
    DateStyle: 'ISO, YMD',
    lock_timeout: String(target.lockTimeoutMs),
    statement_timeout: '0',
    ...(version >= FIRST_WITH_TRANSACTION_TIMEOUT && { transaction_timeout: '0' }),
    // The server ends a connection whose process hangs inside a transaction, or whose host is gone: its locks are free within 15 s.
    idle_in_transaction_session_timeout: '8s',
    tcp_keepalives_idle: '5',
    tcp_keepalives_interval: '2',
    tcp_keepalives_count: '3',
    tcp_user_timeout: '10s', // Also covers a process that does not read its answer.
  };
  const set = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`);
  return `select ${[...set, DURABLE].join(', ')}`;
}

/** A commit outlasts a crash of the server, whatever its tuning: a journal that it forgot would be sent a second time. */
const DURABLE = `set_config('synchronous_commit',
  coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), true)`;

const LIFETIME_MS = 60_000;

/**
 * A connection that is opened when it is first needed, and again after it was lost or has lived for a minute: after a failover the address
 * leads to another server, and the old one may go on answering.
 */
export type LazyConnection = ReturnType<typeof createLazyConnection>;

export function createLazyConnection(clock: Clock, open: () => Promise<Connection>) {
  let current: Connection | null = null;
  let openedMs = 0;
  let isClosed = false;
  const closeCurrent = async (): Promise<void> => {
    const old = current;
    current = null;
    await old?.close();
  };
  return {
    connection: async () => {
      if (isClosed) throw new Error('This session is closed.');
      if (current?.isLost() === true || clock.monotonicMs() - openedMs > LIFETIME_MS) await closeCurrent();
      if (current !== null) return current;
      openedMs = clock.monotonicMs();
      current = await open();
      return current;
    },
    close: async () => {
      isClosed = true;
      await closeCurrent();
    },
  };
}

/** A pool of connections, each used by one caller at a time; further callers wait in line. */
export function createConnectionPool(connections: readonly LazyConnection[]) {
  const idle = [...connections];
  const queue = new PQueue({ concurrency: connections.length });
  return {
    use: <T>(work: (lazyConnection: LazyConnection) => Promise<T>): Promise<T> =>
      queue.add(async () => {
        const lazyConnection = idle.pop(); // The one used last, so that no more are opened than are needed concurrently.
        if (lazyConnection === undefined)
          throw new Error('More users were admitted than there are connections.');
        try {
          return await work(lazyConnection);
        } finally {
          idle.push(lazyConnection);
        }
      }),
    close: async (): Promise<void> => {
      await queue.onIdle(); // The callers in line come first.
      await Promise.all(connections.map((lazyConnection) => lazyConnection.close()));
    },
  };
}
