import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { allKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { databaseIdentity } from '../db/session/database-info.ts';
import { openSession, sqlitePath } from '../db/open-session.ts';
import { hasRow, insertInto, readTexts, select } from '../db/rows/rows.ts';
import type { Queryable, Session, Transaction } from '../db/session/session.ts';
import { TABLES_SCHEMA, qualifiedName } from '../db/session/sql-text.ts';
import type { Logger } from '../lib/log/logger.ts';
import { createOwner } from '../lib/owner.ts';
import { SyncError, UsageError } from '../lib/sync-error.ts';
import { systemClock } from '../lib/time/clock.ts';
import { freezeIfRestored } from '../outbound/freeze.ts';
import { openSendCounter } from '../outbound/send-counter.ts';
import { deleteMeta, isMirrorPresent, writeMeta } from '../store/kinds/meta.ts';
import { readMirroredKind } from '../store/kinds/field-store.ts';
import { compareTables } from '../store/move/compare-tables.ts';
import {
  continueNumbers,
  copyKind,
  copyTable,
  MOVED_TABLES,
  requireOwnMove,
  type Move,
} from '../store/move/copy-tables.ts';
import {
  closeTables,
  openTables,
  readSourceMark,
  readTargetMark,
  refuseMoved,
  writeSourceMark,
  writeTargetMark,
  type SourceMark,
} from '../store/move/move-mark.ts';
import { ownersHolding } from '../store/runs/worker-store.ts';
import { changeKindTables, createReportIndexes } from '../store/schema/change-kind-tables.ts';
import { guardTable, unguardTable } from '../store/schema/guard-tables.ts';
import { MIRROR_META } from '../store/tables/engine-tables.ts';
import { saveDecision, type Decider } from '../store/users/decision-store.ts';
import { checkSchema, migrate } from '../views/migrate.ts';
import { openExistingMirror, schemaOptions } from './open-mirror.ts';

interface MoveCommand extends Pick<Move, 'onRows' | 'signal'> {
  readonly logger: Logger;
  readonly by: Decider;
}

/** The document of `move --json`. */
export interface MoveReport {
  readonly from: string;
  readonly to: string;
  /** Rows of our own tables and of the kinds; 0 if an earlier command had copied them all. */
  readonly rows: number;
}

/**
 * Copies a mirror from a file into an empty PostgreSQL database, and makes that one its place. The file is closed first: nothing
 * more is stored in it or sent from it. The last transaction in the database opens it; until then it is refused. After a kill the
 * next call takes the move over and fills the database from the start.
 *
 * @param config The settings with the file. @param target The same with the address of the new database.
 * @throws {SyncError} `move.in_use`, `move.not_empty`, `move.other_target`, `move.other_file`, `move.unknown_kinds`, `move.differs`.
 * @throws The reason of the signal once it fires; the move is unfinished then.
 */
export async function moveMirror(config: Config, target: Config, command: MoveCommand): Promise<MoveReport> {
  await using source = await openMovingFile(config);
  const kinds = allKinds(config);
  await refuseUnknownKinds(
    source,
    kinds.map(({ name }) => name),
  );
  await using database = await openSession(target.database.url);
  const report = { from: source.location, to: database.location };
  const known = await readSourceMark(source);
  if (known?.state === 'moved') {
    if (known.to !== database.location) await refuseMoved(source, 'write');
    return { ...report, rows: 0 };
  }
  await requireFreeTarget(database, known?.id);
  const place = await databaseIdentity(database); // Whatever this user may not do there shows before the file is closed.
  if (known === null) await migrate(database, kinds, schemaOptions(target));
  const mark = await markSource(config, source, { ...command, known, to: database.location });
  const move = { source, target: database, run: mark.run, now: systemClock.now(), ...command };
  let rows = 0;
  if (!(await isFinished(database, mark))) {
    rows = await fill(move, mark, target);
    await finish(move, mark, place);
  }
  await source.atomically((tx) => writeSourceMark(tx, { ...mark, state: 'moved' }));
  return { ...report, rows };
}

/** Opens a mirror in a file; one that moves already is not migrated. */
async function openMovingFile(config: Config): Promise<Session> {
  const { url } = config.database;
  if (sqlitePath(url) === null)
    throw new UsageError(
      'DATABASE_URL does not name a SQLite file: move copies from a file into PostgreSQL.',
      {
        code: 'usage.move',
        hint: 'Set DATABASE_URL to file:PATH. Between PostgreSQL databases, use pg_dump and pg_restore.',
      },
    );
  const opened = await openSession(url);
  if ((await isMirrorPresent(opened)) && (await readSourceMark(opened)) !== null) {
    if ((await checkSchema(opened, allKinds(config), schemaOptions(config))) === 'current') return opened;
    await opened.close();
    throw new SyncError('The move began with another release or other settings.', {
      code: 'move.other_release',
      hint: 'Use those again, or give the move up: bms-sync move --cancel',
    });
  }
  await opened.close();
  return openExistingMirror(config);
}

/** @throws {SyncError} `move.unknown_kinds` if the file holds kinds that the settings do not declare: their rows would stay behind. */
async function refuseUnknownKinds(source: Session, known: readonly string[]): Promise<void> {
  const held = await readTexts(source, sql`select kind from kind_state order by kind`);
  const unknown = held.filter((kind) => !known.includes(kind));
  if (unknown.length === 0) return;
  throw new SyncError(`The mirror holds kinds that the settings do not declare: ${unknown.join(', ')}.`, {
    code: 'move.unknown_kinds',
    hint: 'Declare them in furtherKinds again, so that their rows move too.',
  });
}

/** @throws {SyncError} `move.not_empty` if a database holds anything but this move. */
async function requireFreeTarget(target: Session, id?: string): Promise<void> {
  if (!(await isMirrorPresent(target))) return; // `migrate` refuses other programs' tables.
  await target.atomically((tx) => requireFree(tx, target.location, id));
}

async function requireFree(tx: Transaction, location: string, id?: string): Promise<void> {
  const mark = await readTargetMark(tx);
  if (mark === null ? await isEmpty(tx) : mark.id === id) return;
  throw new SyncError(`The database ${location} is not empty.`, {
    code: 'move.not_empty',
    hint: 'Name a new database: createdb NAME',
  });
}

/** Whether no table of a mirror but those that `migrate` fills has a row. */
async function isEmpty(target: Queryable): Promise<boolean> {
  for (const table of await tablesToFill(target))
    if (await hasRow(target, sql`select 1 from ${sql.identifier(table)} limit 1`)) return false;
  return true;
}

const tablesToFill = (target: Queryable): Promise<string[]> =>
  readTexts(
    target,
    sql`select tablename from pg_tables where schemaname = ${TABLES_SCHEMA}
      and tablename not in ('mirror_meta', 'dictionary', 'relations')`,
  );

interface Marking extends MoveCommand {
  readonly known: SourceMark | null;
  readonly to: string;
}

/** Closes the file, or takes a move over that has begun. */
async function markSource(config: Config, source: Session, marking: Marking): Promise<SourceMark> {
  const { known, to, by, logger } = marking;
  const file = await databaseIdentity(source);
  const run = randomUUID();
  await source.makeDurable(); // A power cut must not open the file again.
  if (known === null) {
    const counter = await openSendCounter(source, config.queue.url);
    await freezeIfRestored(source, counter, systemClock.now(), logger).finally(() => counter.close());
  }
  return source.atomically(async (tx) => {
    const present = await readSourceMark(tx);
    if (present !== null) refuseOtherMove(present, { file, to });
    else await closeFile(tx, { to, by, location: source.location });
    const mark = { state: 'moving', id: randomUUID(), file, to, ...present, run } as const;
    await writeSourceMark(tx, mark);
    return mark;
  });
}

function refuseOtherMove(mark: SourceMark, { file, to }: Pick<SourceMark, 'file' | 'to'>): void {
  if (mark.to !== to)
    throw new SyncError(`This mirror is moving to ${mark.to}, not to ${to}.`, {
      code: 'move.other_target',
      hint: 'Name that address again, or give the move up: bms-sync move --cancel',
    });
  if (mark.file !== file)
    throw new SyncError(`This file is a copy of the one that is moving to ${to}.`, {
      code: 'move.other_file',
      hint: 'Move the file itself. If it is lost, give the move up: bms-sync move --cancel',
    });
}

/** @throws {SyncError} `move.in_use` beside a process that works on the file. */
async function closeFile(
  tx: Transaction,
  { to, by, location }: { readonly to: string; readonly by: Decider; readonly location: string },
): Promise<void> {
  const now = systemClock.now();
  const [owner] = await ownersHolding(tx, { now, isDead: createOwner().isDead });
  if (owner !== undefined)
    throw new SyncError(`${owner} is at work on ${location}.`, {
      code: 'move.in_use',
      hint: 'Stop it first. If it was killed in another container, try again in 45 s.',
    });
  await saveDecision(tx, { ...by, what: 'move', target: to, detail: null }, now);
  await closeTables(tx, to);
}

/**
 * Whether the last transaction of a move has landed.
 * @throws {SyncError} `move.lost` if it may have, and the database no longer bears the move.
 */
async function isFinished(target: Session, { id, state }: SourceMark): Promise<boolean> {
  const mark = (await isMirrorPresent(target)) ? await readTargetMark(target) : null;
  if (mark?.id === id) return mark.state === 'done';
  if (state === 'moving') return false;
  throw new SyncError(`The database ${target.location} lacks the move that this file has ended with it.`, {
    code: 'move.lost',
    hint: 'It may have been in use since. Restore it from a back-up, then run bms-sync move again.',
  });
}

/** Fills the database from the start. @returns The rows copied. */
async function fill(move: Move, mark: SourceMark, config: Config): Promise<number> {
  const { target, source } = move;
  const kinds = allKinds(config);
  await migrate(target, kinds, schemaOptions(config));
  await target.atomically(async (tx) => {
    await requireFree(tx, target.location, mark.id);
    const tables = (await tablesToFill(tx)).map(qualifiedName);
    await tx.execute(`truncate ${tables.join(', ')}`);
    await writeTargetMark(tx, { id: mark.id, run: mark.run, from: source.location, state: 'filling' });
    await guardTable(tx, 'outbox'); // An application that knows the new address already must not insert yet.
  });
  let rows = 0;
  for (const table of MOVED_TABLES) rows += await copyTable(move, table);
  await target.atomically(async (tx) => {
    for (const kind of kinds) await changeKindTables(tx, await readMirroredKind(tx, kind), 'postgres');
    await continueNumbers(move, tx);
    await deleteMeta(tx, 'layout'); // So that `migrate` creates the views of discovered fields.
  });
  for (const kind of kinds) rows += await copyKind(move, kind);
  await migrate(target, kinds, schemaOptions(config));
  await createReportIndexes(target, kinds);
  await compareTables(move, kinds, config.database.url);
  return rows;
}

/** Facts about a file, or about the tables of one database. */
const NOT_MOVED =
  /^(?:version|migrations|layout|release|bi\.reader_role|language|integrity|privacy\.scrub|outbox\.place|move\.(?:to|from)|alive\..*|writer)$/;

/** Opens the database. Between both steps neither the file nor the database sends anything. */
async function finish({ source, target, run }: Move, mark: SourceMark, place: string): Promise<void> {
  await source.atomically(async (tx) => {
    const present = await readSourceMark(tx);
    if (present?.run !== run) throw givenUp();
    await writeSourceMark(tx, { ...mark, state: 'finishing' });
  });
  const facts = (await select(source, MIRROR_META, sql``)).filter(({ key }) => !NOT_MOVED.test(key));
  await target.atomically(async (tx) => {
    await requireOwnMove(tx, run);
    if (facts.length > 0)
      await tx.query(
        sql`${insertInto(MIRROR_META, ...facts)} on conflict (key) do update set value = excluded.value`,
      );
    await writeMeta(tx, 'outbox.place', place);
    await unguardTable(tx, 'outbox');
    await writeTargetMark(tx, { id: mark.id, run, from: source.location, state: 'done' });
  });
}

const givenUp = (): SyncError =>
  new SyncError('This move was given up, or another process has taken it over.', {
    code: 'move.taken_over',
    hint: 'Run bms-sync status to see where the mirror is.',
  });

/**
 * Gives up a move that has not reached its last step: the file is used again.
 * @returns The database that the move was filling; null if the file was not moving.
 * @throws {SyncError} `mirror.moved`; `mirror.moving` if the new database may be in use already.
 */
export async function cancelMove(config: Config): Promise<string | null> {
  await using source = await openSession(config.database.url);
  return await source.atomically(async (tx) => {
    const mark = await readSourceMark(tx);
    if (mark === null) return null;
    if (mark.state !== 'moving') await refuseMoved(source, 'write');
    await openTables(tx);
    await deleteMeta(tx, 'move.to');
    return mark.to;
  });
}
