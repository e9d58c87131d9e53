import { lstatSync, readlinkSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { createDraft } from '../lib/draft-file.ts';
import { errorCode, describeFileFault, isOurs, reasonOf, SyncError, UsageError } from '../lib/sync-error.ts';
import { sqlitePath } from './open-session.ts';
import { sqliteError } from './session/errors.ts';
import { isReplaceable } from './sqlite/snapshot-file.ts';

/**
 * Returns the whole path of a file that a command is to write; an existing one will be replaced. A link is followed.
 * @param mirrorUrl The address of the mirror, which must not be overwritten.
 * @throws {UsageError} `usage.file` where its folder is missing, it is not a plain file, or it belongs to the mirror.
 */
export function outputFile(mirrorUrl: string, file: string): string {
  const refuse = (what: string, hint: string): UsageError =>
    new UsageError(`${file} ${what}`, { code: 'usage.file', hint });
  const path = realPath(resolve(file), refuse);
  const stats = statOf(path);
  if (stats?.isDirectory() === true) throw refuse('is a folder, not a file.', 'Name a file in it.');
  if (stats?.isFile() === false)
    throw refuse(
      'is a device, a pipe or a socket, not a file.',
      'Name a file; to feed a program, omit --out and pipe stdout to it.',
    );
  if (isMirrorFile(mirrorUrl, path))
    throw refuse('belongs to the mirror.', 'Name another file: it would be overwritten.');
  return path;
}

type Refuse = (what: string, hint: string) => UsageError;

/** Follows links; the folder of a new file must exist. */
function realPath(path: string, refuse: Refuse): string {
  const stats = statOf(path);
  if (stats !== null) return stats.isFile() ? realpathSync(path) : path; // A pipe that /dev/stdout leads to has no path.
  if (statOf(dirname(path))?.isDirectory() !== true)
    throw refuse('cannot be written: there is no such folder.', 'Create the folder, or name another file.');
  const place = resolvedPath(path);
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? realPath(resolve(dirname(place), readlinkSync(place)), refuse) : place;
}

/** The path with a folder that has no links in it. */
const resolvedPath = (path: string): string =>
  statOf(dirname(path)) === null ? path : join(realpathSync(dirname(path)), basename(path));

/** The whole path of a snapshot. @throws {UsageError} As `outputFile`, and for a file that is not a snapshot. */
export function snapshotFile(mirrorUrl: string, file: string): string {
  const path = outputFile(mirrorUrl, file);
  if (isReplaceable(path)) return path;
  throw new UsageError(`${file} is no snapshot, and would be overwritten.`, {
    code: 'usage.file',
    hint: 'Name another file, or remove this one.',
  });
}

const MIRROR_SUFFIXES = ['', '-wal', '-shm', '-journal', '.sends'];

/** By name, and by the file that a link leads to. SQLite has its files beside the real one, we beside the one that the setting names. */
function isMirrorFile(mirrorUrl: string, path: string): boolean {
  const mirror = sqlitePath(mirrorUrl);
  if (mirror === null) return false;
  const target = statOf(path);
  const bases = [resolve(mirror), ...(statOf(mirror) === null ? [] : [realpathSync(mirror)])];
  return bases
    .flatMap((base) => MIRROR_SUFFIXES.map((end) => `${base}${end}`))
    .some((mirrorFile) => {
      const stats = statOf(mirrorFile);
      const isSameFile = stats !== null && stats.ino === target?.ino && stats.dev === target.dev;
      return isSameFile || resolvedPath(mirrorFile) === path;
    });
}

function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(errorCode(error))) return null;
    const message = `${path} ${describeFileFault(error)}.`; // Such as links that lead in a circle.
    throw new UsageError(message, { code: 'usage.file', hint: 'Name another file.', cause: error });
  }
}

/**
 * Writes a file that appears whole: `write` writes a draft beside it, which is renamed at the end and removed after a fault.
 * Returns its bytes. @throws {SyncError} `file.not_written`.
 */
export async function writeWhole(path: string, write: (draft: string) => Promise<void>): Promise<number> {
  try {
    const draft = createDraft(path);
    try {
      await write(draft.path);
      return draft.publish();
    } catch (error) {
      draft.discard();
      throw error;
    }
  } catch (error) {
    throw outputError(error, path);
  }
}

/** Turns a fault of the disk into an error that names the file and the cure; returns other errors unchanged. */
function outputError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof SyncError || errorCode(error) === '') return error;
  if (isOurs(error) || sqliteError(error, path) === error) return error;
  return new SyncError(`${path} could not be written: ${reasonOf(error)}.`, {
    code: 'file.not_written',
    hint: 'Free space or correct the rights there, or name another file.',
    cause: error,
  });
}
