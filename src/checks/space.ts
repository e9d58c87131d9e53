import { passed } from '../lib/check-result.ts';
import type { CheckResult } from '../lib/check-result.ts';

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
