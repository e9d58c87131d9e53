import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';

/** Overwrites the beginning of pages of a file, as a failing disk does; nothing may have it open. */
export function damagePages(path: string, pages: readonly number[], pageSize = 16_384): void {
  const file = openSync(path, 'r+');
  try {
    for (const page of pages) writeSync(file, Buffer.alloc(64, 0xff), 0, 64, (page - 1) * pageSize);
  } finally {
    closeSync(file);
  }
}

/** Flips the lowest bit of the first byte of a text in a file, wherever it stands; returns how often it stood there. */
export function flipBits(path: string, text: string): number {
  const file = openSync(path, 'r+');
  try {
    const content = Buffer.alloc(fstatSync(file).size);
    readSync(file, content, 0, content.length, 0);
    let count = 0;
    for (let at = content.indexOf(text); at >= 0; at = content.indexOf(text, at + 1)) {
      writeSync(file, Buffer.from([(content[at] ?? 0) ^ 1]), 0, 1, at);
      count += 1;
    }
    return count;
  } finally {
    closeSync(file);
  }
}
