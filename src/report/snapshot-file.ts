import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Kind } from '../catalog/kind.ts';
import { removeDrafts } from '../lib/draft-file.ts';
import { SyncError } from '../lib/sync-error.ts';
import { instantText, systemClock } from '../lib/time/clock.ts';
import type { Session } from '../mirror/session/session.ts';
import { takeSnapshot } from './snapshot.ts';
import type { SnapshotContent } from './snapshot.ts';
import { outputFault, snapshotFile } from './output-file.ts';
import type { MirrorPlace } from './output-file.ts';

/** The document of `snapshot --json`. */
interface SnapshotReport extends SnapshotContent {
  readonly file: string;
  readonly takenAt: string;
}

interface SnapshotMirror extends MirrorPlace {
  readonly kinds: readonly Kind[];
}

/**
 * Writes a snapshot of the views; it replaces the former one at once.
 *
 * @param path As `snapshotFile` gives it.
 * @throws {SyncError} `file.not_written`.
 */
export async function writeSnapshotFile(
  session: Session,
  { database, kinds }: SnapshotMirror,
  path: string,
): Promise<SnapshotReport> {
  const now = systemClock.now();
  try {
    const content = await takeSnapshot(session, { url: database.url, kinds, path, now });
    return { file: path, takenAt: instantText(now), ...content };
  } catch (error) {
    throw outputFault(error, path);
  }
}

/** The snapshot that `bi.snapshotPath` names, after content was removed from the mirror. */
export interface RenewedSnapshot {
  readonly file: string;
  readonly rewritten: boolean;
}

/** Writes a snapshot again; a fault is part of the result. */
export async function renewSnapshot(
  session: Session,
  mirror: SnapshotMirror,
  file: string,
): Promise<RenewedSnapshot> {
  try {
    await writeSnapshotFile(session, mirror, snapshotFile(mirror, file));
    return { file, rewritten: true };
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return { file, rewritten: false };
  }
}

interface SnapshotPlace extends MirrorPlace {
  readonly bi: { readonly snapshotPath: string | null };
}

/** The snapshot that `bi.snapshotPath` names; null if none is named, or none was written yet. */
export function presentSnapshot({ bi: { snapshotPath: file } }: SnapshotPlace): string | null {
  return file !== null && existsSync(file) ? file : null;
}

/** Removes the present snapshot, and the remains of unfinished ones. @throws {UsageError} For a file that is no snapshot. */
export function removeSnapshot(place: SnapshotPlace): void {
  removeUnfinished(place);
  const file = presentSnapshot(place);
  if (file !== null) rmSync(snapshotFile(place, file));
}

/** Removes what killed processes have left of the snapshot that `bi.snapshotPath` names. */
export function removeUnfinished({ bi: { snapshotPath: file } }: SnapshotPlace): void {
  if (file !== null) removeDrafts(resolve(file));
}
