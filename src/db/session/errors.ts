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

/** What the codes of a driver mean. */
export interface DriverWords {
  readonly faults: readonly DatabaseFault[];
  /** Whether a statement met an object or a rule that is not as we made it: a database administrator changed something. */
  readonly isChanged: (error: Error, sign: string) => boolean;
  /** The codes for a statement's text and values, which are ours. */
  readonly ofStatements: RegExp;
}

const SQLITE_FAULTS: readonly DatabaseFault[] = [
  {
    driverCode: /^(?:SQLITE_FULL|ENOSPC)/,
    code: 'mirror.disk_full',
    problem: 'has no room: the disk is full',
    hint: 'Free space on its disk, or inodes if it has none left (df -i), then run the command again: stored rows stay.',
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
];

/** SQLite has one code for a statement's own faults and for an object that is gone; only its message tells them apart. */
const SQLITE_OBJECT_CHANGED =
  /^no such |has no column named|^duplicate column|already exists|^error in (?:view|trigger)|generated column|^ON CONFLICT clause/;

/** The rules of a database are those of administrators, except primary keys: those are ours to keep. */
const SQLITE_OWN_KEY = /^(?:SQLITE_CONSTRAINT_PRIMARYKEY|SQLITE_CONSTRAINT_ROWID)/;

const SQLITE: DriverWords = {
  faults: SQLITE_FAULTS,
  isChanged: (error, sign) =>
    (sign.startsWith('SQLITE_CONSTRAINT') && !SQLITE_OWN_KEY.test(sign)) ||
    SQLITE_OBJECT_CHANGED.test(error.message),
  ofStatements: /^SQLITE_(?:ERROR|RANGE|MISMATCH|CONSTRAINT)/,
};

/** Turns what a call of SQLite or of its file threw into an error that names the file and what to do; a fault of ours stays as it is. */
export const sqliteError = (error: unknown, path: string): unknown =>
  errorCode(error) === '' ? error : mirrorError(error, path, SQLITE);

/** Runs what calls SQLite or its file. */
export function translateErrors<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw sqliteError(error, path);
  }
}

const SCHEMA_CHANGED = {
  code: 'mirror.unreadable_schema',
  problem: 'has a table, column, view or rule that another program removed, changed or added',
  hint: 'Undo that change, or restore the mirror from a copy; bms-sync doctor checks it.',
};

const OTHER_FAULT = {
  code: 'mirror.fault',
  problem: 'failed',
  hint: 'See what the message names, and the log of the database and its machine; bms-sync doctor checks it.',
};

/**
 * Turns what a call of a driver threw into an error that names the database and what to do: by the list of its dialect, else with the
 * driver's message. A fault of ours stays as it is, as does the text or a value of a statement, unless it met something that is
 * missing or foreign.
 */
export function mirrorError(error: unknown, location: string, words: DriverWords): unknown {
  if (!(error instanceof Error) || error instanceof SyncError || isOurs(error)) return error;
  const sign = errorCode(error) || error.message;
  const known = words.faults.find(({ driverCode }) => driverCode.test(sign));
  const isChanged = words.isChanged(error, sign);
  if (known === undefined && !isChanged && words.ofStatements.test(sign)) return error;
  const { code, problem, hint } = known ?? (isChanged ? SCHEMA_CHANGED : OTHER_FAULT);
  const what = known === undefined && sign !== error.message ? `${problem}: ${error.message}` : problem;
  return new MirrorError(`The mirror ${location} ${what} (${sign}).`, { code, hint, cause: error });
}
