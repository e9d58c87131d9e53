import { SyncError, errorCode } from '../../lib/sync-error.ts';

/** The database refused or failed an operation. */
export class MirrorError extends SyncError {
  override readonly name = 'MirrorError';
}

const UNAVAILABLE_CODES: readonly string[] = [
  'mirror.connection_lost',
  'mirror.unreachable',
  'mirror.too_many_connections',
  'mirror.commit_unknown',
  'mirror.busy',
];

/** Whether the database cannot be reached now, so that the same work may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof MirrorError && UNAVAILABLE_CODES.includes(error.code);
}

/** The database holds another source's data. */
export class OtherSourceError extends SyncError {
  override readonly name = 'OtherSourceError';
}

/** Another owner is sweeping this kind, or took the sweep over. */
export class LeaseError extends SyncError {
  override readonly name = 'LeaseError';
}

/** The meaning of some errors of a driver, and the cure. */
export interface DatabaseFault {
  readonly code: string;
  readonly problem: string;
  readonly hint: string;
  /** The beginning of the driver's code, or of its message where there is no code. */
  readonly driverCode: RegExp;
}

const SQLITE_FAULTS: readonly DatabaseFault[] = [
  {
    driverCode: /^(?:SQLITE_FULL|ENOSPC)/,
    code: 'mirror.disk_full',
    problem: 'has no room: the disk is full',
    hint: 'Free space on its disk, then run the command again: stored rows stay.',
  },
  {
    driverCode: /^SQLITE_BUSY/,
    code: 'mirror.busy',
    problem: 'is held by another process',
    hint: 'Wait for it, or end it, then run the command again.',
  },
  {
    driverCode:
      /^(?:SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM|EACCES|EROFS|EPERM|ENOENT|ENOTDIR|EEXIST|ENAMETOOLONG)/,
    code: 'mirror.not_writable',
    problem: 'cannot be written',
    hint: 'Give this user write permission on the file and its folder, or set DATABASE_URL to another place.',
  },
  {
    driverCode: /^(?:SQLITE_NOTADB|SQLITE_CORRUPT)/,
    code: 'mirror.not_a_database',
    problem: 'is not a healthy SQLite database',
    hint: 'Restore it from a copy, or move it away: the next pull rebuilds it.',
  },
  {
    driverCode: /^SQLITE_IOERR/,
    code: 'mirror.io',
    problem: 'could not be read or written: the disk reports an error',
    hint: 'Check the disk and its free space.',
  },
];

const UNREADABLE: DatabaseFault = {
  driverCode: /^(?:SQLITE_ERROR|SQLITE_SCHEMA)/,
  code: 'mirror.unreadable_schema',
  problem: 'has a table or view that cannot be read as this release wrote it',
  hint: 'Run bms-sync doctor. If the file is damaged, restore it from a copy, or move it away; if it is sound, this is a bug: please report it.',
};

/** As `sqliteError`, for a statement that only reads: the file may be damaged, such as the text of a view. */
export const sqliteReadError = (error: unknown, path: string): unknown =>
  mirrorError(error, errorCode(error), path, [...SQLITE_FAULTS, UNREADABLE]);

/** Turns a driver's error into one that names the file and what to do; passes on errors that it does not know. */
export const sqliteError = (error: unknown, path: string): unknown =>
  mirrorError(error, errorCode(error), path, SQLITE_FAULTS);

/** Returns a MirrorError for a known driver error; returns any other error unchanged. */
export function mirrorError(
  error: unknown,
  driverCode: string,
  location: string,
  faults: readonly DatabaseFault[],
): unknown {
  const fault = faults.find((candidate) => candidate.driverCode.test(driverCode));
  if (fault === undefined) return error;
  const { code, problem, hint } = fault;
  return new MirrorError(`The mirror ${location} ${problem} (${driverCode}).`, { code, hint, cause: error });
}
