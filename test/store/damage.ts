import { closeSync, openSync, writeSync } from 'node:fs';

/** Overwrites the beginning of pages of a file, as a failing disk does; nothing may have it open. */
export function damagePages(path: string, pages: readonly number[], pageSize = 16_384): void {
  const file = openSync(path, 'r+');
  try {
    for (const page of pages) writeSync(file, Buffer.alloc(64, 0xff), 0, 64, (page - 1) * pageSize);
  } finally {
    closeSync(file);
  }
}
