import { SyncError, errorCode } from '../../lib/sync-error.ts';
import type { ErrorDetails } from '../../lib/sync-error.ts';

/** The database refused or failed an operation. */
export class MirrorError extends SyncError {
  override readonly name = 'MirrorError';
}

const AWAY: readonly string[] = [
  'mirror.connection_lost',
  'mirror.unreachable',
  'mirror.too_many_connections',
  'mirror.commit_unknown',
];

/** Whether an error says that the database cannot be reached now, and that the same work may succeed later. */
export function isAway(error: unknown): boolean {
  return error instanceof MirrorError && AWAY.includes(error.code);
}

/** The database holds another source's data. */
export class OtherSourceError extends SyncError {
  override readonly name = 'OtherSourceError';
}

/** Another owner is sweeping this kind, or took the sweep over. */
export class LeaseError extends SyncError {
  override readonly name = 'LeaseError';
}

interface Fault extends Omit<ErrorDetails, 'cause'> {
  readonly what: string;
}

const CANNOT_WRITE: Fault = {
  code: 'mirror.not_writable',
  what: 'cannot be written',
  hint: 'Give this user write permission on the file and its folder, or set DATABASE_URL to another place.',
};

const NOT_A_DATABASE: Fault = {
  code: 'mirror.not_a_database',
  what: 'is not a healthy SQLite database',
  hint: 'Restore it from a copy, or move it away: the next pull rebuilds it.',
};

const DISK_FULL: Fault = {
  code: 'mirror.disk_full',
  what: 'has no room: the disk is full',
  hint: 'Free space on its disk, then run the command again: landed rows stay.',
};

/** SQLite's result codes by their beginning, longest match first. */
const SQLITE_FAULTS: readonly (readonly [string, Fault])[] = [
  ['SQLITE_FULL', DISK_FULL],
  [
    'SQLITE_BUSY',
    {
      code: 'mirror.busy',
      what: 'is held by another process',
      hint: 'Wait for it, or end it, then run the command again.',
    },
  ],
  ['SQLITE_READONLY', CANNOT_WRITE],
  ['SQLITE_CANTOPEN', CANNOT_WRITE],
  ['SQLITE_PERM', CANNOT_WRITE],
  ['SQLITE_NOTADB', NOT_A_DATABASE],
  ['SQLITE_CORRUPT', NOT_A_DATABASE],
  [
    'SQLITE_IOERR',
    {
      code: 'mirror.io',
      what: 'could not be read or written: the disk reports an error',
      hint: 'Check the disk and its free space.',
    },
  ],
  ['EACCES', CANNOT_WRITE],
  ['EROFS', CANNOT_WRITE],
  ['EPERM', CANNOT_WRITE],
  ['ENOENT', CANNOT_WRITE],
  ['ENOTDIR', CANNOT_WRITE],
  ['EEXIST', CANNOT_WRITE],
  ['ENAMETOOLONG', CANNOT_WRITE],
  ['ENOSPC', DISK_FULL],
];

/** Turns a driver's error into one that names the file and what to do; passes on errors that it does not know. */
export function sqliteError(error: unknown, path: string): unknown {
  const code = errorCode(error);
  const fault = SQLITE_FAULTS.find(([prefix]) => code.startsWith(prefix))?.[1];
  if (fault === undefined) return error;
  const { what, ...details } = fault;
  return new MirrorError(`The mirror ${path} ${what} (${code}).`, { ...details, cause: error });
}
