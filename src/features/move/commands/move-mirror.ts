import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { allKinds } from '../../../config/known-kinds.ts';
import type { Config } from '../../../config/settings.ts';
import { ENGINE_TABLES } from '../../../feature-hooks.ts';
import { databaseIdentity } from '../../../db/session/database-info.ts';
import { openSession, sqlitePath } from '../../../db/open-session.ts';
import { hasRow, insertInto, readTexts, select } from '../../../db/rows/rows.ts';
import type { Queryable, Session, Transaction } from '../../../db/session/session.ts';
import { TABLES_SCHEMA, qualifiedName } from '../../../db/session/sql-text.ts';
import type { Logger } from '../../../lib/log/logger.ts';
import { describeOwner } from '../../../lib/owner.ts';
import { SyncError, UsageError } from '../../../lib/sync-error.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { freezeIfRestored } from '../../../outbound/freeze.ts';
import { openSendCounter } from '../../../outbound/send-counter.ts';
import { readMirroredKind } from '../../../store/kinds/field-store.ts';
import { deleteMeta, isMirrorPresent, readMeta, writeMeta } from '../../../store/kinds/meta.ts';
import { compareTables } from '../compare-tables.ts';
import * as copy from '../copy-tables.ts';
import { readTargetMark } from '../../../store/kinds/target-mark.ts';
import * as marks from '../move-mark.ts';
import { ownersHolding } from '../../../store/runs/worker-store.ts';
import { changeKindTables, createReportIndexes } from '../../../store/schema/change-kind-tables.ts';
import { guardTable, removeGuard } from '../../../store/schema/guard-tables.ts';
import { MIRROR_META } from '../../../store/tables/engine-tables.ts';
import { saveDecision, type Decider } from '../../../store/users/decision-store.ts';
import { migrate } from '../../../views/migrate.ts';
import { openExistingMirror, schemaOptions } from '../../../app/open-mirror.ts';

const TABLES = copy.movedTables(ENGINE_TABLES);

interface MoveCommand extends Pick<copy.Move, 'onRows' | 'signal'> {
  readonly logger: Logger;
  readonly by: Decider;
}

/** The document of `move --json`. */
export type MoveReport = Awaited<ReturnType<typeof moveMirror>>;

/**
 * Copies a mirror from a file into an empty PostgreSQL database, and makes that one its place. The file is closed first: nothing
 * more is stored in it or sent from it. The last transaction in the database opens it; until then it is refused. After a kill the
 * next call takes the move over and fills the database from the start.
 *
 * @param config The settings with the file. @param target The same with the address of the new database.
 * @returns `rows`: that this command has copied; 0 if an earlier one had copied them all.
 * @throws {SyncError} `move.in_use`, `move.not_empty`, `move.other_move`, `move.unknown_kinds`, `move.differs`.
 * @throws The reason of the signal once it fires; the move is unfinished then.
 */
export async function moveMirror(config: Config, target: Config, command: MoveCommand) {
  await using source = await openFile(config);
  await using database = await openSession(target.database.url);
  const report = { from: source.location, to: database.location, rows: 0 };
  const known = await marks.readSourceMark(source);
  if (known?.state === 'moved' && known.to === report.to) return report;
  if (known !== null) await refuseOtherMove(source, known, report.to);
  // Whatever this user may not do there shows before the file is closed.
  const place = await databaseIdentity(database);
  if (await isMirrorPresent(database)) await database.atomically((tx) => requireFree(tx, report.to, known));
  await migrate(database, allKinds(target), schemaOptions(target));
  const mark = await markSource(config, source, { ...command, known, to: report.to });
  const move = {
    source,
    target: database,
    tables: TABLES,
    run: mark.run,
    now: systemClock.now(),
    ...command,
  };
  if ((await readTargetMark(database))?.state !== 'done') {
    report.rows = await fill(move, mark, target);
    await finish(move, mark, place);
  }
  await source.atomically((tx) => marks.writeSourceMark(tx, { ...mark, state: 'moved' }));
  return report;
}

/** @throws {SyncError} `move.unknown_kinds` if the file holds kinds that the settings do not declare: their rows would stay behind. */
async function openFile(config: Config): Promise<Session> {
  if (sqlitePath(config.database.url) === null)
    throw new UsageError('DATABASE_URL does not name a SQLite file.', {
      code: 'usage.move',
      hint: 'Set it to file:PATH. Between PostgreSQL databases, use pg_dump and pg_restore.',
    });
  const source = await openExistingMirror(config, 'move');
  const known = allKinds(config).map((kind) => kind.name);
  const held = await readTexts(source, sql`select kind from kind_state order by kind`);
  const unknown = held.filter((kind) => !known.includes(kind)).join(', ');
  if (unknown === '') return source;
  await source.close();
  throw new SyncError(`The mirror holds kinds that the settings do not declare: ${unknown}.`, {
    code: 'move.unknown_kinds',
    hint: 'Declare them in furtherKinds again, so that their rows move too.',
  });
}

/** @throws {SyncError} `move.other_move`, `mirror.moved` if the mark is of another database, or this is a copy of the file. */
async function refuseOtherMove(source: Session, mark: marks.SourceMark, to: string): Promise<void> {
  if (mark.state === 'moved') await marks.refuseMoved(source, 'read');
  const isCopy = mark.file !== (await databaseIdentity(source));
  if (mark.to === to && !isCopy) return;
  const what = isCopy ? 'is a copy of the file that is moving' : 'is moving';
  throw new SyncError(`The mirror ${source.location} ${what} to ${mark.to}.`, {
    code: 'move.other_move',
    hint: `Move ${isCopy ? 'that file' : 'it to that address'}, or give this move up: bms-sync move --cancel`,
  });
}

/** @throws {SyncError} `move.not_empty` if a database holds anything but this move, or has lost one that may have ended. */
async function requireFree(tx: Transaction, location: string, known: marks.SourceMark | null): Promise<void> {
  const mark = await readTargetMark(tx);
  if (mark === null ? known?.state !== 'finishing' && (await isEmpty(tx)) : mark.id === known?.id) return;
  throw new SyncError(`The database ${location} is not empty, or not the one that this move has filled.`, {
    code: 'move.not_empty',
    hint: 'Name a new database (createdb NAME), or restore the one of this move.',
  });
}

async function isEmpty(target: Queryable): Promise<boolean> {
  for (const { name } of TABLES)
    if (await hasRow(target, sql`select 1 from ${sql.identifier(name)} limit 1`)) return false;
  return true;
}

/** All tables of a mirror; `migrate` fills those again that it derives. */
const tablesToFill = (target: Queryable): Promise<string[]> =>
  readTexts(
    target,
    sql`select tablename from pg_tables where schemaname = ${TABLES_SCHEMA} and tablename <> 'mirror_meta'`,
  );

interface Marking extends MoveCommand {
  readonly known: marks.SourceMark | null;
  readonly to: string;
}

/** Closes the file, or takes a move over that has begun. @throws {SyncError} `move.in_use` beside a process that works on it. */
async function markSource(
  config: Config,
  source: Session,
  { known, to, by, logger }: Marking,
): Promise<marks.SourceMark> {
  const file = await databaseIdentity(source);
  const now = systemClock.now();
  await source.makeDurable(); // A power cut must not open the file again.
  if (known === null) {
    const counter = await openSendCounter(source, config.queue.url);
    await freezeIfRestored(source, counter, now, logger).finally(() => counter.close());
  }
  return source.atomically(async (tx) => {
    const present = await marks.readSourceMark(tx);
    const [owner] = present === null ? await ownersHolding(tx) : [];
    if (owner !== undefined)
      throw new SyncError(`On ${source.location}, ${describeOwner(owner)} is at work.`, {
        code: 'move.in_use',
        hint: 'Stop it first. If it was killed in another container, try again in 45 s.',
      });
    if (present === null) {
      await saveDecision(tx, { ...by, what: 'move', target: to, detail: null }, now);
      await marks.closeTables(tx, to);
    }
    const mark = { state: 'moving', id: randomUUID(), file, to, ...present, run: randomUUID() } as const;
    await marks.writeSourceMark(tx, mark);
    return mark;
  });
}

/** Fills the database from the start. @returns The rows copied. */
async function fill(move: copy.Move, mark: marks.SourceMark, config: Config): Promise<number> {
  const { target, source, run } = move;
  const kinds = allKinds(config);
  await target.atomically(async (tx) => {
    await requireFree(tx, target.location, mark);
    await tx.execute(`truncate ${(await tablesToFill(tx)).map(qualifiedName).join(', ')}`);
    await marks.writeTargetMark(tx, { id: mark.id, run, from: source.location, state: 'filling' });
    await guardTable(tx, 'outbox'); // An application that knows the new address already must not insert yet.
  });
  let rows = 0;
  for (const table of move.tables) rows += await copy.copyTable(move, table);
  const facts = (await select(source, MIRROR_META, sql``)).filter((row) => !NOT_MOVED.test(row.key));
  await target.atomically(async (tx) => {
    await copy.requireOwnMove(tx, run);
    for (const { key, value } of facts)
      await tx.query(
        sql`${insertInto(MIRROR_META, { key, value })} on conflict (key) do update set value = excluded.value`,
      );
    for (const kind of kinds) await changeKindTables(tx, await readMirroredKind(tx, kind), 'postgres');
    await copy.continueNumbers(move, tx);
    await deleteMeta(tx, 'layout'); // So that `migrate` creates the views of discovered fields.
  });
  for (const kind of kinds) rows += await copy.copyKind(move, kind);
  const timezone = (await readMeta(source, 'calendar')) ?? 'UTC';
  await migrate(target, kinds, { timezone, ...schemaOptions(config) });
  await createReportIndexes(target, kinds, move.signal);
  await compareTables(move, kinds, config.database.url);
  return rows;
}

/** Facts about a file, or about the tables of one database. */
const NOT_MOVED =
  /^(?:version|migrations|layout|release|bi\.reader_role|language|integrity|privacy\.scrub|calendar|outbox\.place|move\..*|alive\..*|filled\..*|writer)$/;

/** Opens the database. Between both steps neither the file nor the database sends anything. */
async function finish({ source, target, run }: copy.Move, mark: marks.SourceMark, place: string) {
  await source.atomically(async (tx) => {
    if ((await marks.readSourceMark(tx))?.run !== run) throw copy.takenOver();
    await marks.writeSourceMark(tx, { ...mark, state: 'finishing' });
  });
  await target.atomically(async (tx) => {
    await copy.requireOwnMove(tx, run);
    await writeMeta(tx, 'outbox.place', place);
    await removeGuard(tx, 'outbox');
    await marks.writeTargetMark(tx, { id: mark.id, run, from: source.location, state: 'done' });
  });
}

/**
 * Gives up a move that has not reached its last step: the file is used again.
 * @returns The database that the move was filling; null if the file was not moving.
 * @throws {SyncError} `mirror.moved`; `mirror.moving` if the new database may be in use already.
 */
export async function cancelMove(config: Config): Promise<string | null> {
  await using source = await openFile(config);
  return await source.atomically(async (tx) => {
    const mark = await marks.readSourceMark(tx);
    if (mark === null) return null;
    if (mark.state !== 'moving') await marks.refuseMoved(source, 'write');
    await marks.openTables(tx);
    await deleteMeta(tx, 'move.to');
    return mark.to;
  });
}
