import { errorCode } from '../../lib/sync-error.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { MirrorError, mirrorError, type DatabaseFault, type DriverWords } from '../session/errors.ts';

const CONNECTION_LOST = 'mirror.connection_lost';
const UNREACHABLE = 'mirror.unreachable';
const BUSY = 'mirror.busy';
export const LOCKED = 'mirror.locked';
export const TABLES_MISSING = 'mirror.tables_missing';
/** Another bms-sync is writing. Unlike other locks, this one is worth waiting for. */
export const WRITER_BUSY = 'mirror.writer_busy';

/** Their signs are of PostgreSQL's SQLSTATE, of Node's error code, or of the driver's message if there is no code. */
const FAULTS: readonly DatabaseFault[] = [
  {
    driverCode:
      /^(?:57P0[1245]|25P0[34]|08|ECONNRESET|EPIPE|Connection terminated|Client has encountered a connection error)/,
    code: CONNECTION_LOST,
    problem: 'has ended the connection',
    hint: 'Run the command again: stored rows stay.',
  },
  {
    driverCode:
      /^(?:ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|timeout expired|57P03|ENOTFOUND|EAI_AGAIN|ENOENT|EACCES)/,
    code: UNREACHABLE,
    problem: 'cannot be reached',
    hint: 'Check that PostgreSQL runs there and accepts connections, and the host and port in DATABASE_URL or the address of the move.',
  },
  {
    driverCode: /^(?:40001|40P01)/,
    code: BUSY,
    problem: 'is busy: other transactions were in the way',
    hint: 'Wait for them to end, then run the command again.',
  },
  {
    driverCode: /^55P03/,
    code: LOCKED,
    problem: 'is locked by another transaction',
    hint: 'Wait for it, or end it (pg_stat_activity shows it), then run the command again.',
  },
  {
    driverCode: /^(?:28P01|SASL|28000)/,
    code: 'mirror.login_refused',
    problem: 'does not let this user in',
    hint: 'Check the user and the password in DATABASE_URL and pg_hba.conf on the server; add sslmode=verify-full if it demands TLS.',
  },
  {
    driverCode: /^3D000/,
    code: 'mirror.no_database',
    problem: 'does not exist',
    hint: 'Create it (createdb NAME), or correct the name in DATABASE_URL.',
  },
  {
    driverCode: /^42501/,
    code: 'mirror.not_writable',
    problem: 'refuses this: the user lacks a right',
    hint: 'Make the user the owner of the database, or grant it CREATE on the database and on schema public.',
  },
  {
    driverCode: /^25006/,
    code: 'mirror.not_writable',
    problem: 'cannot be written: it is read-only',
    hint: 'Set DATABASE_URL to the primary server, and see that default_transaction_read_only is off.',
  },
  {
    driverCode: /^22021/,
    code: 'mirror.null_character',
    problem: 'cannot hold a text with a null character',
    hint: 'Remove the character.',
  },
  {
    driverCode: /^42P01/,
    code: TABLES_MISSING,
    problem: 'lacks a table of this mirror',
    hint: 'The database was dropped and made again, or restored in part. Stop bms-sync, restore a back-up, then start it again; a new mirror begins with: bms-sync migrate.',
  },
  {
    driverCode: /^53100/,
    code: 'mirror.disk_full',
    problem: 'has no room: the disk is full',
    hint: "Free space on the server's disk, then run the command again: stored rows stay.",
  },
  {
    driverCode: /^53300/,
    code: 'mirror.too_many_connections',
    problem: 'accepts no more connections',
    hint: 'Close other clients, or raise max_connections on the server: each process of bms-sync needs five.',
  },
  {
    driverCode:
      /^(?:The server does not support SSL|There was an error establishing an SSL connection|SELF_SIGNED|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO|CERT_|ERR_TLS)/,
    code: 'mirror.no_tls',
    problem: 'cannot be reached by TLS as DATABASE_URL requires',
    hint: 'Switch TLS on at the server and add sslrootcert=PATH with the certificate of its authority, or take sslmode out.',
  },
];

/**
 * Names that are gone or taken, a length, a computed column, and rules (class 23): an administrator's, unless the rule is a primary key.
 * The unique indexes of the engine's tables guard against the rows of other programs.
 */
const OBJECT_CHANGED = /^(?:23|22001|428C9|42P10|42P01|42703|42704|42883|3F000|42P07|42701|42710)/;

const WORDS: DriverWords = {
  faults: FAULTS,
  isChanged: (error, sign) => OBJECT_CHANGED.test(sign) && !isOwnKey(error),
  ofStatements: /^(?:0A|2[123]|42|25P02|2BP01)/, // 25P02 follows them; views translate 2BP01.
};

const isOwnKey = (error: Error): boolean =>
  'constraint' in error && /_pk(?:ey)?$/.test(String(error.constraint));

/** Turns what a call of the driver threw into an error that names the database and what to do; a fault of ours stays as it is. */
export const postgresError = (error: unknown, location: string): unknown =>
  mirrorError(error, location, WORDS);

/** True if a server takes no writes on this connection: after a failover a new one may lead to another server. */
export const isReadOnly = (error: unknown): boolean =>
  error instanceof MirrorError && errorCode(error.cause) === '25006';

/** True if the connection is lost, and with it every uncommitted transaction. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof MirrorError && error.code === CONNECTION_LOST;
}

/** How long a fault is retried since it began, and the waits between the attempts, which double. */
const OUTAGE = { totalMs: 10_000, firstMs: 50, mostMs: 2_000 };
type Patience = typeof OUTAGE;

/** Longer than any of our transactions except a migration; the server ends a hanging one within seconds. */
const WRITER = { totalMs: 120_000, firstMs: 20, mostMs: 20 };

/** The transient faults: the same work may succeed when it is repeated. */
const PATIENCE: ReadonlyMap<string, Patience> = new Map([
  [CONNECTION_LOST, OUTAGE],
  [UNREACHABLE, OUTAGE],
  ['mirror.too_many_connections', OUTAGE],
  [BUSY, OUTAGE],
  [WRITER_BUSY, WRITER],
]);

const patienceWith = (error: unknown): Patience | undefined =>
  error instanceof MirrorError ? PATIENCE.get(error.code) : undefined;

export const isTransient = (error: unknown): boolean => patienceWith(error) !== undefined;

/** Resolves when it is time for another attempt. @throws The given error, if it is not transient or has lasted too long. */
export type WaitOrThrow = (error: unknown) => Promise<void>;

/** Retries a lost connection or a conflicting transaction for ten seconds, and another writing bms-sync for two minutes. */
export function createRetryPolicy(clock: Clock): WaitOrThrow {
  const begun = new Map<Patience, { readonly sinceMs: number; waits: number }>();
  return async (error) => {
    const patience = patienceWith(error);
    if (patience === undefined) throw error;
    const nowMs = clock.monotonicMs();
    const fault = begun.get(patience) ?? { sinceMs: nowMs, waits: 0 };
    begun.set(patience, fault);
    const waitMs = Math.min(patience.firstMs * 2 ** fault.waits++, patience.mostMs);
    if (nowMs - fault.sinceMs + waitMs > patience.totalMs) throw error;
    await clock.sleep(waitMs);
  };
}
