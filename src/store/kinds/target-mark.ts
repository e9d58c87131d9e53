import type { Queryable } from '../../db/session/session.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { readMetaJson } from './meta.ts';

/** The mark of a database that a move fills, or has filled. */
export interface TargetMark {
  /** Names the move; the file bears it too. */
  readonly id: string;
  /** The process that moves it now. */
  readonly run: string;
  readonly from: string;
  readonly state: 'filling' | 'done';
}

export const readTargetMark = async (db: Queryable): Promise<TargetMark | null> =>
  (await readMetaJson(db, 'move.from')) as TargetMark | null;

/** @throws {SyncError} `mirror.unfinished` while a move fills the database. */
export async function refuseUnfinished(db: Queryable, location = 'of DATABASE_URL'): Promise<void> {
  const mark = await readTargetMark(db);
  if (mark?.state !== 'filling') return;
  throw new SyncError(`The database ${location} holds an unfinished move from ${mark.from}.`, {
    code: 'mirror.unfinished',
    hint: `Run the same bms-sync move again, with DATABASE_URL set to that file. If you gave the move up, drop this database and create it again.`,
  });
}

/** The purpose for which a mirror is opened; `move`: to continue a move of it. */
export type MirrorUse = 'read' | 'write' | 'move';
