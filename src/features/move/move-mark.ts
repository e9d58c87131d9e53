import { sql } from 'drizzle-orm';
import { readTexts } from '../../db/rows/rows.ts';
import { MirrorError } from '../../db/session/errors.ts';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { identifier, literal } from '../../db/session/sql-text.ts';
import { SyncError, errorCode } from '../../lib/sync-error.ts';
import { isMirrorPresent, readMetaJson, writeMeta } from '../../store/kinds/meta.ts';
import { refuseUnfinished, type MirrorUse, type TargetMark } from '../../store/kinds/target-mark.ts';

/** The mark that a mirror in a file bears while it moves, and for ever afterwards. */
export interface SourceMark {
  /** Names the move; the new database bears it too. */
  readonly id: string;
  /** The process that moves it now: a later one takes the move over. */
  readonly run: string;
  /** The identity of the file. A copy of it bears the mark too, and must not continue. */
  readonly file: string;
  /** The address of the new database, without user and password. */
  readonly to: string;
  /** `moving`: the new database certainly sends nothing, so the move may be given up. `finishing`: it may be in use already. */
  readonly state: 'moving' | 'finishing' | 'moved';
}

export const readSourceMark = async (db: Queryable): Promise<SourceMark | null> =>
  (await readMetaJson(db, 'move.to')) as SourceMark | null;

export const writeSourceMark = (tx: Transaction, mark: SourceMark): Promise<void> =>
  writeMeta(tx, 'move.to', JSON.stringify(mark));

export const writeTargetMark = (tx: Transaction, mark: TargetMark): Promise<void> =>
  writeMeta(tx, 'move.from', JSON.stringify(mark));

/**
 * Makes every table of a file refuse rows from every writer: an application that inserts into `outbox`, and a `serve` of any
 * release that slept while the move began. Only the mark itself can still be written.
 */
export async function closeTables(tx: Transaction, to: string): Promise<void> {
  const text = literal(`This mirror moves to ${to}: nothing more is stored in this file.`);
  const statements = (await listTables(tx)).flatMap((table) =>
    CHANGES.map((change) => {
      const key = change === 'delete' ? 'old.key' : 'new.key';
      const when = table === 'mirror_meta' ? `when ${key} <> 'move.to'` : '';
      return `create trigger if not exists ${triggerName(table, change)} before ${change} on ${identifier(table)} ${when}
        begin select raise(abort, ${text}); end;`;
    }),
  );
  await tx.execute(statements.join('\n'));
}

/** Makes the tables accept rows again. */
export async function openTables(tx: Transaction): Promise<void> {
  const names = (await listTables(tx)).flatMap((table) =>
    CHANGES.map((change) => triggerName(table, change)),
  );
  await tx.execute(names.map((name) => `drop trigger if exists ${name};`).join('\n'));
}

const CHANGES = ['insert', 'update', 'delete'] as const;

const triggerName = (table: string, change: string): string => identifier(`${table}_moves_${change}`);

const listTables = (tx: Transaction): Promise<string[]> =>
  readTexts(
    tx,
    sql`select name from sqlite_schema where type = 'table' and name not like 'sqlite!_%' escape '!' order by name`,
  );

/**
 * Refuses a mirror that has moved, is moving, or is being filled by a move. A file that is still moving may be read.
 * @returns The session. Of a file that moves, one whose writes fail with `mirror.moving`.
 * @throws {SyncError} `mirror.moved`, `mirror.moving`, `mirror.unfinished`.
 */
export async function refuseMoved(session: Session, use: MirrorUse): Promise<Session> {
  if (!(await isMirrorPresent(session))) return session;
  await refuseUnfinished(session, session.location);
  const mark = await readSourceMark(session);
  if (mark === null || use === 'move') return session;
  if (mark.state === 'moved') throw moved(session.location, mark.to);
  if (use === 'write') throw moving(session.location, mark);
  const atomically: Session['atomically'] = (work) =>
    session.atomically(work).catch((error: unknown) => {
      throw error instanceof MirrorError && errorCode(error.cause) === 'SQLITE_CONSTRAINT_TRIGGER'
        ? moving(session.location, mark)
        : error;
    });
  return { ...session, atomically };
}

/** Advice about the file that a mirror has left. */
export const leftFileAdvice = (file: string): string =>
  `Set DATABASE_URL to the new address, with its user and password. Delete the old file and the files beside it (${['', '-wal', '-shm', '.sends'].map((end) => `${file}${end}`).join(', ')}): forget does not reach them.`;

const moved = (file: string, to: string): SyncError =>
  new SyncError(`The mirror ${file} has moved to ${to}.`, {
    code: 'mirror.moved',
    hint: leftFileAdvice(file),
  });

const moving = (file: string, mark: SourceMark): SyncError =>
  new SyncError(`The mirror ${file} is moving to ${mark.to}: nothing is stored or sent until it is there.`, {
    code: 'mirror.moving',
    hint: `Run the same bms-sync move again to end the move${mark.state === 'moving' ? ', or give it up: bms-sync move --cancel' : ''}.`,
  });
