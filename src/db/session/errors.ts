import { SyncError, errorCode, isOurs } from '../../lib/sync-error.ts';

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
    driverCode: /^(?:SQLITE_PROTOCOL|SQLITE_IOERR_\w*(?:LOCK|SHM))/,
    code: 'mirror.no_locks',
    problem: 'lies on a file system that cannot lock or share it, such as a network drive',
    hint: 'Keep the file on a local disk, or set DATABASE_URL to a PostgreSQL server.',
  },
  {
    driverCode: /^SQLITE_IOERR/,
    code: 'mirror.io',
    problem: 'could not be read or written: the disk reports an error',
    hint: 'Check the disk and its free space.',
  },
];

/** SQLite has one code for a statement's own faults and for an object that is gone; only its message tells them apart. */
const SQLITE_OBJECT_CHANGED =
  /^no such |has no column named|^duplicate column|already exists|^error in (?:view|trigger)/;

/** Whether SQLite answered to the text of a statement or its values, which are ours. */
export function isStatementFault(error: unknown): boolean {
  if (!/^SQLITE_(?:ERROR|RANGE|MISMATCH|CONSTRAINT)/.test(errorCode(error))) return false;
  return !(error instanceof Error && SQLITE_OBJECT_CHANGED.test(error.message));
}

/** Turns what a call of SQLite or of its file threw into an error that names the file and what to do; a fault of ours stays as it is. */
export function sqliteError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || errorCode(error) === '' || isOurs(error) || isStatementFault(error))
    return error;
  return mirrorError(error, errorCode(error), path, SQLITE_FAULTS);
}

/** Runs what calls SQLite or its file. */
export function translateErrors<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw sqliteError(error, path);
  }
}

/** What no list names. */
const OTHER_FAULTS: readonly DatabaseFault[] = [
  {
    driverCode: /^(?:SQLITE_ERROR|SQLITE_SCHEMA|42|23)/,
    code: 'mirror.unreadable_schema',
    problem: 'has a table, column or view that another program removed or changed',
    hint: 'Undo that change, or restore the mirror from a copy; bms-sync doctor checks it.',
  },
  {
    driverCode: /^/,
    code: 'mirror.fault',
    problem: 'failed',
    hint: 'See what the message names, and the log of the database and its machine; bms-sync doctor checks it.',
  },
];

/** Returns an error for what a driver threw: by the list of its dialect, else with the message of the driver. */
export function mirrorError(
  error: Error,
  driverCode: string,
  location: string,
  faults: readonly DatabaseFault[],
): unknown {
  if (error instanceof SyncError) return error;
  const matches = ({ driverCode: sign }: DatabaseFault): boolean => sign.test(driverCode);
  const known = faults.find(matches);
  const fault = known ?? OTHER_FAULTS.find(matches);
  if (fault === undefined) return error;
  const { code, problem, hint } = fault;
  const what = known === undefined && driverCode !== error.message ? `${problem}: ${error.message}` : problem;
  return new MirrorError(`The mirror ${location} ${what} (${driverCode}).`, { code, hint, cause: error });
}
