import { accessSync, constants, existsSync, statSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { passed } from '../lib/check-result.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { errorCode } from '../lib/error-code.ts';
import { sqlitePath } from '../mirror/open-session.ts';

/** The path of a SQLite mirror that does not exist yet; null if there is a file, or the mirror is in PostgreSQL. */
export function absentFile(url: string): string | null {
  const path = sqlitePath(url);
  return path === null || path === '' || path === ':memory:' || existsSync(path) ? null : path;
}

/** Checks whether the first pull can create a mirror at a path; creates nothing. */
export function checkAbsentFile(path: string): readonly CheckResult[] {
  const folder = nearestFolder(dirname(resolve(path)));
  const { bavail, bsize } = statfsSync(folder);
  return [judgePlace(path, folder), judgeSpace({ size: 0, free: bavail * bsize })];
}

function judgePlace(path: string, folder: string): CheckResult {
  if (mayWriteIn(folder))
    return passed('database', `there is no mirror at ${path} yet; the first pull creates it`);
  return {
    ...{ name: 'database', ok: false, code: 'mirror.not_writable' },
    detail: `there is no mirror at ${path}, and this user may not create it in ${folder}`,
    hint: 'Set DATABASE_URL to a path that this user may write, or have the right given.',
  };
}

/** The folder, or the nearest one above it that exists. */
function nearestFolder(folder: string): string {
  return existsSync(folder) ? folder : nearestFolder(dirname(folder));
}

function mayWriteIn(folder: string): boolean {
  if (!statSync(folder).isDirectory()) return false;
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    if (errorCode(error) !== '') return false;
    throw error;
  }
}

/** Bytes in a megabyte. */
export const MB = 2 ** 20;

const LEAST_FREE = 256 * MB;

/** Whether a mirror in a file has the free space that a sweep, a migration or a backup beside it may need; in bytes. */
export function judgeSpace({ size, free }: { readonly size: number; readonly free: number }): CheckResult {
  const detail = `${megabytes(size)} are in use, ${megabytes(free)} are free`;
  if (free >= Math.max(LEAST_FREE, size / 2)) return passed('database.space', detail);
  return {
    ...{ name: 'database.space', ok: false, code: 'mirror.little_space', detail },
    hint: 'Make room on that disk, or move the mirror: a full disk stops every pull and every push, and loses nothing.',
  };
}

export const megabytes = (bytes: number): string => `${Math.ceil(bytes / MB)} MB`;
