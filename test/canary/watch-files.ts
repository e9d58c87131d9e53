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
    if (this.open && !this.readonly) lookAtNewFrames(`${this.name}-wal`);
    return close.call(this);
  };
}

/** Of each log, the salts of the round of frames that was looked at last, and up to where. */
const lookedAt = new Map<string, { readonly salts: Buffer; readonly end: number }>();
const HEAD_BYTES = 32;
const FRAME_HEAD_BYTES = 24;
const FRAMES_A_PIECE = 64;

/**
 * Looks at the frames that a log has got since the last look, in the round that was looked at last and in the present one. A log keeps
 * its largest size, and is closed after every pull: to look at it whole took two fifths of the world's time.
 */
function lookAtNewFrames(path: string): void {
  if (!fs.existsSync(path)) return;
  const file = fs.openSync(path, 'r');
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    if (fs.readSync(file, head, 0, HEAD_BYTES, 0) < HEAD_BYTES) return;
    const frameBytes = FRAME_HEAD_BYTES + head.readUInt32BE(8);
    const look = watch.inPieces({ place: 'SQLite write-ahead logs', what: () => path, isQuick: true });
    /** Looks at the frames of a round from a place on, and returns where its last transaction ends: what follows may be overwritten. */
    const lookFrom = (from: number, salts: Buffer): number => {
      let [at, ended, length] = [from, from, 0];
      do {
        const read = fs.readSync(file, buffer, 0, frameBytes * FRAMES_A_PIECE, at);
        for (length = 0; length + frameBytes <= read; length += frameBytes) {
          if (!salts.equals(buffer.subarray(length + 8, length + 16))) break;
          if (buffer.readUInt32BE(length + 4) > 0) ended = at + length + frameBytes;
        }
        look(buffer.subarray(0, length));
        at += length;
      } while (length === frameBytes * FRAMES_A_PIECE);
      return ended;
    };
    const salts = head.subarray(16, 24);
    const last = lookedAt.get(path);
    const isSame = last?.salts.equals(salts) === true;
    const end = lookFrom(isSame ? last.end : HEAD_BYTES, salts);
    if (last !== undefined && !isSame) lookFrom(Math.max(end, last.end), last.salts);
    lookedAt.set(path, { salts, end });
  } finally {
    fs.closeSync(file);
  }
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
