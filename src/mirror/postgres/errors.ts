import type { ErrorDetails } from '../../lib/sync-error.ts';
import { MirrorError } from '../session/errors.ts';
import { errorCode } from '../../lib/error-code.ts';

export const CONNECTION_LOST = 'mirror.connection_lost';
export const UNREACHABLE = 'mirror.unreachable';
export const BUSY = 'mirror.busy';
export const LOCKED = 'mirror.locked';
/** Another bms-sync is writing. Unlike other locks, this one is worth waiting for. */
export const WRITER_BUSY = 'mirror.writer_busy';

interface Fault extends Omit<ErrorDetails, 'cause'> {
  readonly what: string;
  /** Prefixes of PostgreSQL's SQLSTATE, of Node's error code, or of the driver's message if it gives no code. */
  readonly signs: readonly string[];
}

const FAULTS: readonly Fault[] = [
  {
    signs: [
      ...['57P01', '57P02', '57P05', '25P03', '25P04', '08', 'ECONNRESET', 'EPIPE'],
      ...['Connection terminated', 'Client has encountered a connection error'],
    ],
    code: CONNECTION_LOST,
    what: 'has ended the connection',
    hint: 'Run the command again: landed rows stay.',
  },
  {
    signs: [
      'ECONNREFUSED',
      'ETIMEDOUT',
      'EHOSTUNREACH',
      'ENETUNREACH',
      'EHOSTDOWN',
      'timeout expired',
      '57P03',
    ],
    code: UNREACHABLE,
    what: 'cannot be reached',
    hint: 'Check that PostgreSQL runs there and accepts connections, and the host and port in DATABASE_URL.',
  },
  {
    signs: ['ENOTFOUND', 'EAI_AGAIN'],
    code: UNREACHABLE,
    what: 'cannot be reached: its host name is unknown',
    hint: 'Check the host in DATABASE_URL.',
  },
  {
    signs: ['ENOENT', 'EACCES'],
    code: UNREACHABLE,
    what: 'cannot be reached: there is no such socket, or this user may not use it',
    hint: 'Check the host in DATABASE_URL.',
  },
  {
    signs: ['40001', '40P01'],
    code: BUSY,
    what: 'is busy: other transactions were in the way',
    hint: 'Wait for them to end, then run the command again.',
  },
  {
    signs: ['55P03'],
    code: LOCKED,
    what: 'is locked by another transaction',
    hint: 'Wait for it, or end it (pg_stat_activity shows it), then run the command again.',
  },
  {
    signs: ['28P01', 'SASL'],
    code: 'mirror.login_refused',
    what: 'does not let this user in',
    hint: 'Check the user and the password in DATABASE_URL, and pg_hba.conf on the server.',
  },
  {
    signs: ['28000'],
    code: 'mirror.login_refused',
    what: 'does not let this user in from here',
    hint: 'Check the user in DATABASE_URL and pg_hba.conf on the server; add sslmode=verify-full if it demands TLS.',
  },
  {
    signs: ['3D000'],
    code: 'mirror.no_database',
    what: 'does not exist',
    hint: 'Create it (createdb NAME), or correct the name in DATABASE_URL.',
  },
  {
    signs: ['42501'],
    code: 'mirror.not_writable',
    what: 'refuses this: the user lacks a right',
    hint: 'Make the user the owner of the database, or grant it CREATE on the database and on schema public.',
  },
  {
    signs: ['25006'],
    code: 'mirror.not_writable',
    what: 'cannot be written: it only takes reads',
    hint: 'Set DATABASE_URL to the primary server, and see that default_transaction_read_only is off.',
  },
  {
    signs: ['53100'],
    code: 'mirror.disk_full',
    what: 'has no room: the disk is full',
    hint: "Free space on the server's disk, then run the command again: landed rows stay.",
  },
  {
    signs: ['53300'],
    code: 'mirror.too_many_connections',
    what: 'takes no more connections',
    hint: 'Close other clients, or raise max_connections on the server: bms-sync needs five.',
  },
  {
    signs: ['The server does not support SSL', 'There was an error establishing an SSL connection'],
    code: 'mirror.no_tls',
    what: 'does not speak TLS',
    hint: 'Switch TLS on at the server, or take sslmode out of DATABASE_URL.',
  },
  {
    signs: ['SELF_SIGNED', 'DEPTH_ZERO_SELF_SIGNED', 'UNABLE_TO', 'CERT_', 'ERR_TLS'],
    code: 'mirror.no_tls',
    what: 'shows a certificate that cannot be trusted',
    hint: 'Add sslrootcert=PATH with the certificate of its authority to DATABASE_URL.',
  },
];

/** Turns a driver's error into one that names the database and what to do; passes on errors that it does not know. */
export function postgresError(error: unknown, location: string): unknown {
  if (!(error instanceof Error) || error instanceof MirrorError) return error;
  const sign = errorCode(error) || error.message;
  const fault = FAULTS.find(({ signs }) => signs.some((beginning) => sign.startsWith(beginning)));
  if (fault === undefined) return error;
  const { what, code, hint } = fault;
  return new MirrorError(`The mirror ${location} ${what} (${sign}).`, {
    code,
    hint: hint ?? '',
    cause: error,
  });
}

/** True if the connection is lost, and with it every uncommitted transaction. */
export function isLoss(error: unknown): boolean {
  return error instanceof MirrorError && error.code === CONNECTION_LOST;
}
