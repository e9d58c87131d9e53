import { sql } from 'drizzle-orm';
import type { Transaction, Session } from '../db/session/session.ts';
import { SEARCH_PATH, TABLES_SCHEMA, identifier } from '../db/session/sql-text.ts';
import { readRow } from '../db/rows/rows.ts';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import type { Kind } from '../catalog/kind.ts';
import type { Translations } from '../lib/text/translator.ts';
import { PACKAGE_FOLDER, packageVersion } from '../lib/package-folder.ts';
import { readMirroredKind } from '../store/kinds/field-store.ts';
import { readMeta, renewLog, writeMeta } from '../store/kinds/meta.ts';
import { MirrorError } from '../db/session/errors.ts';
import { kindColumns, nestedColumns, nestedTables, type Dialect } from '../store/tables/kind-table.ts';
import { fillCalendar } from './calendar-days.ts';
import {
  createViews,
  writeDictionary,
  withoutViewChecks,
  translateViewErrors,
  replaceViews,
} from './create-views.ts';
import { grantedRole, setReaderRole } from './reader-role.ts';
import { countedFacts, type CountedStatuses } from './counted-statuses.ts';
import { readStatusKinds, statusesViews } from './statuses-view.ts';
import { listViews, filterKindsWithRows } from './views.ts';
import { renewNaturalKeys } from './natural-keys.ts';
import { guardTable } from '../store/schema/guard-tables.ts';
import { changeKindTables } from '../store/schema/change-kind-tables.ts';
import { retypeReferences } from './retype-references.ts';

/** The demands of a release on a mirror, apart from its kinds. */
export interface Release {
  /** Raised with every release whose mirror an older release must not write. */
  readonly version: number;
  /** As `--version` prints it. */
  readonly name: string;
  /** The folder with the migrations of the engine tables, one folder per database. */
  readonly migrations: string;
}

/** The program's own. */
export const THIS_RELEASE: Release = {
  version: 3,
  name: packageVersion(),
  migrations: join(PACKAGE_FOLDER, 'migrations'),
};

type KeptKey = 'settings.kinds' | 'calendar.yearBegins';

interface MigrateOptions {
  /** The role of PostgreSQL that may read the views: the setting `bi.readerRole`. */
  readonly readerRole?: string | null;
  /** The language of PostgreSQL's comments: the setting `language`. */
  readonly language?: keyof Translations;
  /** The time zone of days: the setting `schedules.timezone`. Without it, a mirror keeps its zone, and a new one counts by UTC. */
  readonly timezone?: string;
  /** Which statuses reports count. Without them, a mirror keeps those that it has. */
  readonly reports?: CountedStatuses;
  /** The settings that the kinds come of, and the first month of the fiscal year. Without them, a mirror keeps those that it has. */
  readonly kept?: Readonly<Record<KeptKey, string>>;
  readonly release?: Release;
  /** Runs in the transaction before anything is changed; what it throws leaves the mirror as it is. */
  readonly mayMigrate?: (tx: Transaction, found: SchemaState) => Promise<void> | void;
}

/**
 * Migrates the schema to this release and these kinds, in one transaction. Does nothing if it is current.
 * @returns Whether anything was changed.
 * @throws {MirrorError} `mirror.newer` if a newer release has migrated it, `mirror.not_ours` if it is not a mirror,
 * `mirror.blocked_by_view` if a user's own object must go first, `mirror.no_reader_role` if the role is missing.
 */
export async function migrate(session: Session, kinds: readonly Kind[], options: MigrateOptions = {}) {
  const target = createTarget(session, kinds, options);
  return translateViewErrors(session.location, () =>
    session.atomically(async (tx) => {
      const schemaState = await findSchemaState(tx, target);
      await options.mayMigrate?.(tx, schemaState);
      return migrateFrom(schemaState, tx, target);
    }),
  );
}

/** Whether the schema matches this release and these settings. */
export type SchemaState = 'none' | 'of an older release' | 'of other settings' | 'current';

/** Returns what `migrate` would find; changes nothing. @throws {MirrorError} `mirror.newer`, `mirror.not_ours` as `migrate` does. */
export async function checkSchema(session: Session, kinds: readonly Kind[], options: MigrateOptions = {}) {
  const target = createTarget(session, kinds, options);
  return session.atomically((tx) => findSchemaState(tx, target));
}

function createTarget(session: Session, kinds: readonly Kind[], options: MigrateOptions) {
  const { readerRole: role = null, language: requested = 'en', release = THIS_RELEASE } = options;
  const { timezone, reports, kept: facts = {} } = options;
  const { dialect, location } = session;
  const readerRole = dialect === 'postgres' ? role : null;
  const language = dialect === 'postgres' ? requested : 'en'; // SQLite has no comments.
  const layout = hashLayout(kinds, dialect, language);
  const counted = reports === undefined ? [] : countedFacts(reports);
  const kept = [...(Object.entries(facts) as [KeptKey, string][]), ...counted];
  return { kinds, dialect, location, readerRole, language, timezone, kept, release, layout };
}

type MigrationTarget = ReturnType<typeof createTarget>;

async function findSchemaState(tx: Transaction, target: MigrationTarget): Promise<SchemaState> {
  if ((await tx.listColumns('mirror_meta')).size === 0) {
    await refuseForeign(tx, target);
    return 'none';
  }
  const version = Number(await readMeta(tx, 'version'));
  if (version > target.release.version) throw newerMirror(target, await readMeta(tx, 'release'));
  if (version < target.release.version) return 'of an older release';
  const isCurrent =
    (await readMeta(tx, 'layout')) === target.layout &&
    (await readMeta(tx, 'log')) !== null &&
    (await grantedRole(tx)) === target.readerRole &&
    [undefined, await readMeta(tx, 'calendar')].includes(target.timezone);
  return isCurrent ? 'current' : 'of other settings';
}

/**
 * Writes the settings that the mirror is to keep, and returns whether it had others. Views read them at every question: none is
 * drawn again.
 */
async function keepSettings(tx: Transaction, { kept }: MigrationTarget): Promise<boolean> {
  let isChanged = false;
  for (const [key, value] of kept) {
    if (value === (await readMeta(tx, key))) continue;
    await writeMeta(tx, key, value);
    isChanged = true;
  }
  return isChanged;
}

async function migrateFrom(schemaState: SchemaState, tx: Transaction, target: MigrationTarget) {
  const { kinds, dialect, location, readerRole: role, release } = target;
  if (schemaState === 'current') {
    if ((await readMeta(tx, 'release')) !== release.name) await writeMeta(tx, 'release', release.name);
    return keepSettings(tx, target);
  }
  if (dialect === 'postgres') await createTablesSchema(tx);
  await migrateEngine(tx, target);
  await retypeReferences(tx, kinds);
  const mirrored: Kind[] = [];
  for (const kind of kinds) mirrored.push(await readMirroredKind(tx, kind));
  for (const kind of mirrored) await changeKindTables(tx, kind, dialect);
  await renewNaturalKeys(tx, kinds);
  await guardTable(tx, 'outbox_attempts'); // An older release that was asleep cannot note a send, so it sends nothing.
  if (dialect === 'postgres') await setReaderRole(tx, role, location);
  const views = listViews(await filterKindsWithRows(tx, mirrored), dialect);
  await fillCalendar(tx, target.timezone);
  await keepSettings(tx, target);
  await replaceViews(tx, views);
  await writeMeta(tx, 'language', target.language);
  await writeDictionary(tx, views, 'all');
  await createViews(tx, statusesViews(await readStatusKinds(tx), dialect));
  await writeMeta(tx, 'version', String(release.version));
  await writeMeta(tx, 'release', release.name);
  await writeMeta(tx, 'layout', target.layout);
  if ((await readMeta(tx, 'log')) === null) await renewLog(tx);
  return true;
}

/** In a database that was never a mirror, tables or views with our names belong to another program. */
async function refuseForeign(tx: Transaction, { kinds, dialect, location }: MigrationTarget): Promise<void> {
  const tables = [...kinds, ...kinds.flatMap(nestedTables)];
  for (const { name } of [...tables, ...listViews(kinds, dialect)]) {
    if ((await tx.listColumns(name)).size === 0) continue;
    throw new MirrorError(`${location} has a table or view "${name}", and is no mirror of bms-sync.`, {
      code: 'mirror.not_ours',
      hint: 'Set DATABASE_URL to a database of its own for the mirror.',
    });
  }
}

function newerMirror(target: MigrationTarget, writer: string | null): MirrorError {
  const message = `The mirror ${target.location} was last written by bms-sync ${writer ?? '(unknown)'}; this is ${target.release.name}, which does not know its tables.`;
  return new MirrorError(message, {
    code: 'mirror.newer',
    hint: `Use that release or a newer one. To go back to ${target.release.name}, restore a copy from before, or pull into a new mirror.`,
  });
}

async function migrateEngine(tx: Transaction, target: MigrationTarget): Promise<void> {
  const isNew = (await tx.listColumns('mirror_meta')).size === 0;
  const done = isNew ? 0 : Number(await readMeta(tx, 'migrations'));
  const migrationsFolder = join(target.release.migrations, target.dialect);
  const migrations = readMigrationFiles({ migrationsFolder });
  await withoutViewChecks(tx, async () => {
    for (const statement of migrations.slice(done).flatMap((migration) => migration.sql))
      await tx.execute(statement);
  });
  await writeMeta(tx, 'migrations', String(migrations.length));
}

/** A hash of every declared table and view, and of the language. It does not cover discovered columns, which pulls add. */
function hashLayout(kinds: readonly Kind[], dialect: Dialect, language: string): string {
  const layout = JSON.stringify([
    kinds.map((kind) => [kind.name, kindColumns(kind, dialect)]),
    kinds.flatMap(nestedTables).map((table) => [table.name, nestedColumns(table, dialect)]),
    listViews(kinds, dialect),
    kinds.flatMap(({ name, excluded = [] }) => excluded.map((field) => [name, field.name])),
    [language],
  ]);
  return hash('sha256', layout);
}

/**
 * Creates PostgreSQL's schema of our tables, and lets the mirror's own user find them there by their short names, as the SQL
 * of its applications does.
 */
async function createTablesSchema(tx: Transaction): Promise<void> {
  await tx.execute(`create schema if not exists ${TABLES_SCHEMA}`);
  await tx.execute('set local search_path to default');
  const setting = sql`
    select setting as path, source, current_database() as database, ${TABLES_SCHEMA} = any(current_schemas(false)) as has
    from pg_settings where name = 'search_path'`;
  const row = await readRow(tx, { path: String, source: String, database: String, has: Number }, setting);
  await tx.execute(`set local search_path to ${SEARCH_PATH}`);
  if (row === null || row.has === 1 || row.source === 'client') return; // The connection's address may set it, too.
  const { path, database } = row;
  const schemas = path === '""' || path === '' ? TABLES_SCHEMA : `${path}, ${TABLES_SCHEMA}`;
  await tx.execute(
    `alter role session_user in database ${identifier(database)} set search_path to ${schemas}`,
  );
}
