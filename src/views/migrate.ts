import { sql } from 'drizzle-orm';
import type { Transaction, Session } from '../db/session/session.ts';
import { SEARCH_PATH, TABLES_SCHEMA, identifier } from '../db/session/sql-text.ts';
import { integerColumn, textColumn } from '../db/rows/engine-column.ts';
import { readRow } from '../db/rows/rows.ts';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import type { Kind } from '../catalog/kind.ts';
import type { Bilingual } from '../lib/text/speech.ts';
import { PACKAGE_FOLDER, packageVersion } from '../lib/package-folder.ts';
import { asMirrored } from '../store/kinds/field-store.ts';
import { readMeta, writeMeta } from '../store/kinds/meta.ts';
import { MirrorError } from '../db/session/errors.ts';
import { kindColumns, nestedColumns, nestedTables, type Dialect } from '../store/tables/kind-table.ts';
import { describeViews, ignoringViews, namingObstacles, replaceViews } from './draw-views.ts';
import { grantedRole, setReaderRole } from './reader-role.ts';
import { viewsOf, withRows } from './views.ts';
import { guardTable } from '../store/schema/guard-tables.ts';
import { growKindTable } from '../store/schema/grow-kind-tables.ts';
import { retypeReferences } from './retype-references.ts';

/** What a release asks of a mirror, apart from its kinds. */
export interface Release {
  /** Raised with every release whose mirror an older release must not write. */
  readonly version: number;
  /** As `--version` tells it. */
  readonly name: string;
  /** The folder with the migrations of the engine tables, one folder a database. */
  readonly migrations: string;
}

/** The program's own. */
export const THIS_RELEASE: Release = {
  version: 3,
  name: packageVersion(),
  migrations: join(PACKAGE_FOLDER, 'migrations'),
};

interface MigrateOptions {
  /** The role of PostgreSQL that may read the views: the setting `bi.readerRole`. */
  readonly readerRole?: string | null;
  /** That of PostgreSQL's comments: the setting `language`. */
  readonly language?: keyof Bilingual;
  readonly release?: Release;
  /** Runs in the transaction before a mirror of an older release is changed; what it throws leaves the mirror as it is. */
  readonly mayMigrate?: (tx: Transaction) => Promise<void>;
}

interface Wanted {
  readonly kinds: readonly Kind[];
  readonly dialect: Dialect;
  readonly location: string;
  readonly readerRole: string | null;
  readonly language: keyof Bilingual;
  readonly release: Release;
  readonly layout: string;
}

/**
 * Brings a database to the shape that this release and these kinds need, in one transaction; does nothing if it has it.
 * @returns Whether anything was changed.
 * @throws {MirrorError} `mirror.newer` if a newer release has migrated it, `mirror.not_ours` if it is no mirror,
 * `mirror.blocked_by_view` if a user's own object must go first, `mirror.no_reader_role` if the role is missing.
 */
export async function migrate(
  session: Session,
  kinds: readonly Kind[],
  options: MigrateOptions = {},
): Promise<boolean> {
  const wanted = wantedOf(session, kinds, options);
  return namingObstacles(session.location, () =>
    session.atomically(async (tx) => {
      const shape = await examineIn(tx, wanted);
      if (shape === 'of an older release') await options.mayMigrate?.(tx);
      return migrateFrom(shape, tx, wanted);
    }),
  );
}

/** How near a database is to the shape that this release and these kinds need. */
type ShapeFound = 'none' | 'of an older release' | 'of other settings' | 'current';

/**
 * Says what `migrate` would find; changes nothing.
 * @throws {MirrorError} `mirror.newer`, `mirror.not_ours` as `migrate` does.
 */
export async function examineShape(
  session: Session,
  kinds: readonly Kind[],
  options: MigrateOptions = {},
): Promise<ShapeFound> {
  const wanted = wantedOf(session, kinds, options);
  return session.atomically((tx) => examineIn(tx, wanted));
}

function wantedOf(
  session: Session,
  kinds: readonly Kind[],
  { readerRole: role = null, language: wished = 'en', release = THIS_RELEASE }: MigrateOptions,
): Wanted {
  const { dialect, location } = session;
  const readerRole = dialect === 'postgres' ? role : null;
  const language = dialect === 'postgres' ? wished : 'en'; // SQLite has no comments.
  const layout = layoutOf(kinds, dialect, language);
  return { kinds, dialect, location, readerRole, language, release, layout };
}

async function examineIn(tx: Transaction, wanted: Wanted): Promise<ShapeFound> {
  if ((await tx.columnsOf('mirror_meta')).size === 0) {
    await refuseForeign(tx, wanted);
    return 'none';
  }
  const version = Number(await readMeta(tx, 'version'));
  if (version > wanted.release.version) throw newerMirror(wanted, await readMeta(tx, 'release'));
  if (version < wanted.release.version) return 'of an older release';
  const isCurrent =
    (await readMeta(tx, 'layout')) === wanted.layout && (await grantedRole(tx)) === wanted.readerRole;
  return isCurrent ? 'current' : 'of other settings';
}

async function migrateFrom(shape: ShapeFound, tx: Transaction, wanted: Wanted): Promise<boolean> {
  const { kinds, dialect, location, readerRole: role, release } = wanted;
  if (shape === 'current') {
    if ((await readMeta(tx, 'release')) !== release.name) await writeMeta(tx, 'release', release.name);
    return false;
  }
  if (dialect === 'postgres') await makeTablesSchema(tx);
  await migrateEngine(tx, wanted);
  await retypeReferences(tx, kinds);
  const mirrored: Kind[] = [];
  for (const kind of kinds) mirrored.push(await asMirrored(tx, kind));
  for (const kind of mirrored) await growKindTable(tx, kind, dialect);
  await guardTable(tx, 'outbox_attempts'); // An older release that was asleep cannot note a send, so it sends nothing.
  if (dialect === 'postgres') await setReaderRole(tx, role, location);
  const views = viewsOf(await withRows(tx, mirrored), dialect);
  await replaceViews(tx, views);
  await writeMeta(tx, 'language', wanted.language);
  await describeViews(tx, views, 'all');
  await writeMeta(tx, 'version', String(release.version));
  await writeMeta(tx, 'release', release.name);
  await writeMeta(tx, 'layout', wanted.layout);
  return true;
}

/** In a database that was never a mirror, tables or views with our names belong to another program. */
async function refuseForeign(tx: Transaction, { kinds, dialect, location }: Wanted): Promise<void> {
  const tables = [...kinds, ...kinds.flatMap(nestedTables)];
  for (const { name } of [...tables, ...viewsOf(kinds, dialect)]) {
    if ((await tx.columnsOf(name)).size === 0) continue;
    throw new MirrorError(`${location} has a table or view "${name}", and is no mirror of bms-sync.`, {
      code: 'mirror.not_ours',
      hint: 'Set DATABASE_URL to a database of its own for the mirror.',
    });
  }
}

function newerMirror(wanted: Wanted, writer: string | null): MirrorError {
  const message = `The mirror ${wanted.location} was last written by bms-sync ${writer ?? '(unknown)'}; this is ${wanted.release.name}, which does not know its tables.`;
  return new MirrorError(message, {
    code: 'mirror.newer',
    hint: `Use that release or a newer one. To go back to ${wanted.release.name}, restore a copy from before, or pull into a new mirror.`,
  });
}

async function migrateEngine(tx: Transaction, wanted: Wanted): Promise<void> {
  const isNew = (await tx.columnsOf('mirror_meta')).size === 0;
  const done = isNew ? 0 : Number(await readMeta(tx, 'migrations'));
  const migrations = readMigrationFiles({
    migrationsFolder: join(wanted.release.migrations, wanted.dialect),
  });
  await ignoringViews(tx, async () => {
    for (const statement of migrations.slice(done).flatMap((migration) => migration.sql))
      await tx.execute(statement);
  });
  await writeMeta(tx, 'migrations', String(migrations.length));
}

/** A digest of every declared table and view, and the language of its comments: it changes with their shape. Discovered columns are added by pulls instead. */
function layoutOf(kinds: readonly Kind[], dialect: Dialect, language: string): string {
  const shape = JSON.stringify([
    kinds.map((kind) => [kind.name, kindColumns(kind, dialect)]),
    kinds.flatMap(nestedTables).map((table) => [table.name, nestedColumns(table, dialect)]),
    viewsOf(kinds, dialect),
    kinds.flatMap(({ name, excluded = [] }) => excluded.map((field) => [name, field.name])),
    language,
  ]);
  return createHash('sha256').update(shape).digest('hex');
}

/**
 * Creates PostgreSQL's schema of our tables, and lets the mirror's own user find them there by their short names, as the SQL
 * of its applications does.
 */
async function makeTablesSchema(tx: Transaction): Promise<void> {
  await tx.execute(`create schema if not exists ${TABLES_SCHEMA}`);
  await tx.execute('set local search_path to default');
  const setting = sql`
    select setting as path, source, current_database() as database, ${TABLES_SCHEMA} = any(current_schemas(false)) as has
    from pg_settings where name = 'search_path'`;
  const row = await readRow(
    tx,
    [textColumn('path'), textColumn('source'), textColumn('database'), integerColumn('has')],
    setting,
  );
  await tx.execute(`set local search_path to ${SEARCH_PATH}`);
  if (row === null || row.has === 1 || row.source === 'client') return; // The connection's address may set it, too.
  const { path, database } = row;
  const schemas = path === '""' || path === '' ? TABLES_SCHEMA : `${path}, ${TABLES_SCHEMA}`;
  await tx.execute(
    `alter role session_user in database ${identifier(database)} set search_path to ${schemas}`,
  );
}
