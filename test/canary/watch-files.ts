import fs, { type Dirent, type PathLike } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { join, resolve } from 'node:path';
import type Database from 'better-sqlite3';
import { holds } from './spellings.ts';
import { watch, type Place } from './watch.ts';

/** Files into which a test itself wrote a secret: settings, a token's file. Our own code writes none this way. */
const writtenByTests = new Set<string>();
const tempFolders = new Set<string>();

/** Looks at the files in temporary folders before they are removed, and at a write-ahead log before it is emptied. */
export function watchFiles(): void {
  const { mkdtempSync, rmSync, writeFileSync } = fs;
  fs.mkdtempSync = ((...args: Parameters<typeof mkdtempSync>) => {
    watchClosing();
    const folder = mkdtempSync(...args);
    tempFolders.add(folder);
    return folder;
  }) as typeof mkdtempSync;
  fs.rmSync = (path: PathLike, ...options) => {
    if (typeof path === 'string' && isTemporary(path)) lookIn(path);
    rmSync(path, ...options);
    if (typeof path === 'string') tempFolders.delete(path);
  };
  fs.writeFileSync = (path, content, ...options) => {
    if (typeof path === 'string' && typeof content === 'string' && holds(Buffer.from(content)))
      writtenByTests.add(resolve(path));
    writeFileSync(path, content, ...options);
  };
  syncBuiltinESMExports();
}

interface Closing {
  readonly open: boolean;
  readonly readonly: boolean;
  readonly name: string;
  close: (this: Closing) => Closing;
}

let isClosingWatched = false;

/**
 * A database that is closed puts its log into the file and removes it; what was overwritten stands in the log only.
 * The driver is loaded with the first folder: most test files that need none need no driver either.
 */
function watchClosing(): void {
  if (isClosingWatched) return;
  isClosingWatched = true;
  const driver = createRequire(import.meta.url)('better-sqlite3') as typeof Database;
  const common: Closing = driver.prototype;
  const { close } = common;
  common.close = function () {
    if (this.open && !this.readonly) lookAtFile(`${this.name}-wal`);
    return close.call(this);
  };
}

const isTemporary = (path: string): boolean =>
  [...tempFolders].some((folder) => path === folder || path.startsWith(`${folder}/`));

function lookIn(path: string): void {
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile()) lookAtFile(path);
  if (!found?.isDirectory()) return;
  const entries: Dirent[] = fs.readdirSync(path, { withFileTypes: true });
  for (const entry of entries) {
    if (entry.isDirectory()) lookIn(join(path, entry.name));
    if (entry.isFile()) lookAtFile(join(path, entry.name));
  }
}

const SIZE = 1 << 22;
const buffer = Buffer.alloc(SIZE);
/** How the last file of a place began that held no secret: mirrors of the same kinds are the same but for a few pages. */
const lastClean = new Map<Place, Buffer>();

function lookAtFile(path: string): void {
  if (!fs.existsSync(path)) return;
  const file = fs.openSync(path, 'r');
  try {
    let read = fs.readSync(file, buffer, 0, SIZE, null);
    const place = placeOf(path, buffer.subarray(0, read));
    if (place === 'other files' && writtenByTests.has(resolve(path))) return;
    const isQuick = place === 'SQLite write-ahead logs'; // They are twice as large as the files.
    const clean = lastClean.get(place);
    const look = watch.inPieces({ place, what: () => path, isQuick, clean });
    const isFound = look(buffer.subarray(0, read));
    if (!isFound && place !== 'other files' && !path.endsWith('-shm'))
      lastClean.set(place, Buffer.from(buffer.subarray(0, read)));
    while ((read = fs.readSync(file, buffer, 0, SIZE, null)) > 0) look(buffer.subarray(0, read));
  } finally {
    fs.closeSync(file);
  }
}

function placeOf(path: string, head: Buffer): Place {
  if (/-(?:wal|shm|journal)$/.test(path)) return 'SQLite write-ahead logs';
  return head.includes('SQLite format 3\0') ? 'SQLite files' : 'other files';
}
