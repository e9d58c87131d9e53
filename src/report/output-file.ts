import { statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errorCode, SyncError, UsageError } from '../lib/sync-error.ts';
import { sqlitePath } from '../db/open-session.ts';
import { isReplaceable } from '../db/sqlite/snapshot-file.ts';

/**
 * The whole path of a file that a command is to write; an existing one will be replaced.
 *
 * @param mirrorUrl The address of the mirror, which must not be overwritten.
 * @throws {UsageError} `usage.file` where its folder is missing, it is a folder itself, or it is the mirror.
 */
export function outputFile(mirrorUrl: string, file: string): string {
  const path = resolve(file);
  const refuse = (what: string, hint: string): UsageError =>
    new UsageError(`${file} ${what}`, { code: 'usage.file', hint });
  if (statOf(dirname(path))?.isDirectory() !== true)
    throw refuse('cannot be written: there is no such folder.', 'Create the folder, or name another file.');
  if (statOf(path)?.isDirectory() === true) throw refuse('is a folder, not a file.', 'Name a file in it.');
  if (isMirror(mirrorUrl, path))
    throw refuse('is the mirror itself, or belongs to it.', 'Name another file: it would be overwritten.');
  return path;
}

/** The whole path of a snapshot. @throws {UsageError} As `outputFile`, and for a file that is no snapshot. */
export function snapshotFile(mirrorUrl: string, file: string): string {
  const path = outputFile(mirrorUrl, file);
  if (isReplaceable(path)) return path;
  throw new UsageError(`${file} is no snapshot, and would be overwritten.`, {
    code: 'usage.file',
    hint: 'Name another file, or remove this one.',
  });
}

/** By name, and by the file that a link leads to. */
function isMirror(mirrorUrl: string, path: string): boolean {
  const mirror = sqlitePath(mirrorUrl);
  if (mirror === null) return false;
  const names = ['', '-wal', '-shm', '-journal'].map((end) => `${resolve(mirror)}${end}`);
  const own = statOf(mirror);
  const given = statOf(path);
  const isSame = own !== null && given !== null && own.ino === given.ino && own.dev === given.dev;
  return names.includes(path) || isSame;
}

function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(errorCode(error))) return null;
    throw error;
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the disk is read-only',
};

/** Turns the fault of writing a file into one that names the file and what to do; passes on other errors. */
export function outputFault(error: unknown, path: string): unknown {
  const words = WORDS[errorCode(error)];
  if (words === undefined) return error;
  return new SyncError(`${path} could not be written: ${words}.`, {
    code: 'file.not_written',
    hint: 'Free space or correct the rights there, or name another file.',
    cause: error,
  });
}
