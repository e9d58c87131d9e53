import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import type { Kind } from '../../catalog/kind.ts';
import { PACKAGE_FOLDER } from '../../lib/package-folder.ts';
import { asMirrored } from '../kinds/field-store.ts';
import { readMeta, writeMeta } from '../kinds/meta.ts';
import { MirrorError } from '../session/errors.ts';
import type { Session, Transaction } from '../session/session.ts';
import { kindColumns, nestedColumns, nestedTables } from '../tables/kind-table.ts';
import type { Dialect } from '../tables/kind-table.ts';
import { drawAsOf, dropAsOf } from '../views/as-of-functions.ts';
import { describeViews } from '../views/draw-views.ts';
import { grantedRole, setReaderRole } from '../views/reader-role.ts';
import { viewsOf, withRows } from '../views/views.ts';
import { growKindTable } from './grow-kind-tables.ts';
import { namingObstacles, takeViewsDown } from './migrate-views.ts';
import type { ChangingMirror } from './migrate-views.ts';
import { findMirror, placeTables } from './place-tables.ts';
import type { Mirror } from './place-tables.ts';
import { planRetyping } from './plan-retyping.ts';
import type { Retyping } from './plan-retyping.ts';
import { retypeColumns, seedUnlisted } from './upgrade-rows.ts';

/** Raised with every release whose mirror an older release must not write. */
const MIRROR_VERSION = 5;

const MIGRATIONS: Record<Dialect, string> = {
  sqlite: join(PACKAGE_FOLDER, 'migrations/sqlite'),
  postgres: join(PACKAGE_FOLDER, 'migrations/postgres'),
};

interface MigrateOptions {
  /** The role of PostgreSQL that may read the views: the setting `bi.readerRole`. */
  readonly readerRole?: string | null;
}

interface Wanted {
  readonly kinds: readonly Kind[];
  readonly dialect: Dialect;
  readonly location: string;
  readonly readerRole: string | null;
  readonly layout: string;
}

/**
 * Brings a database to the shape that this release and these kinds need, in one transaction; does nothing if it has it.
 *
 * @returns Whether anything was changed.
 * @throws {MirrorError} `mirror.newer` if a newer release has migrated it, `mirror.not_ours` if it is no mirror,
 * `mirror.blocked_by_view` if a user's own object must go first, `mirror.no_reader_role` if the role is missing.
 */
export async function migrate(
  session: Session,
  kinds: readonly Kind[],
  { readerRole = null }: MigrateOptions = {},
): Promise<boolean> {
  const wanted = wantedOf(session, kinds, readerRole);
  return namingObstacles(session, kinds, () => session.atomically((tx) => migrateIn(tx, wanted)));
}

/** How near a database is to the shape that this release and these kinds need. */
type ShapeFound = 'none' | 'of an older release' | 'of other settings' | 'current';

/**
 * Says what `migrate` would find; changes nothing.
 *
 * @throws {MirrorError} `mirror.newer`, `mirror.not_ours` as `migrate` does.
 */
export async function examineShape(
  session: Session,
  kinds: readonly Kind[],
  { readerRole = null }: MigrateOptions = {},
): Promise<ShapeFound> {
  const wanted = wantedOf(session, kinds, readerRole);
  return session.atomically(async (tx) => (await examineIn(tx, wanted)).shape);
}

interface Found {
  readonly mirror: Mirror | null;
  readonly shape: ShapeFound;
}

async function examineIn(tx: Transaction, wanted: Wanted): Promise<Found> {
  const mirror = await findMirror(tx, wanted.dialect);
  if (mirror === null) {
    await refuseForeign(tx, wanted);
    return { mirror, shape: 'none' };
  }
  const version = Number(await readMeta(tx, 'version'));
  refuseNewer(version, wanted.location);
  if (version < MIRROR_VERSION) return { mirror, shape: 'of an older release' };
  return { mirror, shape: (await isCurrent(tx, wanted)) ? 'current' : 'of other settings' };
}

const MADE: Readonly<Record<Exclude<ShapeFound, 'current'>, ChangingMirror['made']>> = {
  none: 'never',
  'of an older release': 'by an older release',
  'of other settings': 'by this release',
};

async function migrateIn(tx: Transaction, wanted: Wanted): Promise<boolean> {
  const { kinds, dialect, location, readerRole: role } = wanted;
  const { mirror, shape } = await examineIn(tx, wanted);
  if (shape === 'current') return false;
  if (dialect === 'postgres') await placeTables(tx, mirror, kinds);
  const made = MADE[shape];
  const retyping = made === 'by an older release' ? await planRetyping(tx, kinds, dialect) : null;
  if (dialect === 'postgres') await dropAsOf(tx);
  const putViewsUp = await takeViewsDown(tx, { kinds, dialect, location, made, retyping: retyping ?? [] });
  const mirrored = await changeTables(tx, wanted, retyping);
  if (dialect === 'postgres') await setReaderRole(tx, { role, location });
  const views = viewsOf(await withRows(tx, mirrored), dialect);
  await putViewsUp(views);
  if (dialect === 'postgres') await drawAsOf(tx, mirrored);
  await describeViews(tx, views, 'all');
  await writeMeta(tx, 'version', String(MIRROR_VERSION));
  await writeMeta(tx, 'layout', wanted.layout);
  return true;
}

function wantedOf({ dialect, location }: Session, kinds: readonly Kind[], role: string | null): Wanted {
  const readerRole = dialect === 'postgres' ? role : null;
  return { kinds, dialect, location, readerRole, layout: layoutOf(kinds, dialect) };
}

/**
 * Brings the tables to the shape of this release; our views must have been dropped before.
 *
 * @param retyping The type changes in an older release's mirror; null if this release made the mirror.
 * @returns The kinds with their discovered fields.
 */
async function changeTables(
  tx: Transaction,
  { kinds, dialect }: Wanted,
  retyping: readonly Retyping[] | null,
): Promise<readonly Kind[]> {
  await migrateEngine(tx, dialect);
  for (const plan of retyping ?? []) await retypeColumns(tx, plan, dialect);
  const mirrored: Kind[] = [];
  for (const kind of kinds) mirrored.push(await asMirrored(tx, kind));
  for (const kind of mirrored) await growKindTable(tx, kind, dialect);
  if (retyping !== null) await seedUnlisted(tx, mirrored);
  return mirrored;
}

function refuseNewer(version: number, location: string): void {
  if (version <= MIRROR_VERSION) return;
  const message = `The mirror ${location} has version ${version}, this release knows versions up to ${MIRROR_VERSION}.`;
  throw new MirrorError(message, {
    code: 'mirror.newer',
    hint: 'Use the release of bms-sync that last wrote it, or a newer one.',
  });
}

async function isCurrent(tx: Transaction, { layout, readerRole }: Wanted): Promise<boolean> {
  return (await readMeta(tx, 'layout')) === layout && (await grantedRole(tx)) === readerRole;
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

async function migrateEngine(tx: Transaction, dialect: Dialect): Promise<void> {
  const isNew = (await tx.columnsOf('mirror_meta')).size === 0;
  const done = isNew ? 0 : Number(await readMeta(tx, 'migrations'));
  const migrations = readMigrationFiles({ migrationsFolder: MIGRATIONS[dialect] });
  for (const migration of migrations.slice(done)) {
    for (const statement of migration.sql) await tx.execute(statement);
  }
  await writeMeta(tx, 'migrations', String(migrations.length));
}

/** A digest of every declared table and view: it changes with their shape. Discovered columns are added by pulls instead. */
function layoutOf(kinds: readonly Kind[], dialect: Dialect): string {
  const shape = JSON.stringify([
    kinds.map((kind) => [kind.name, kindColumns(kind, dialect)]),
    kinds.flatMap(nestedTables).map((table) => [table.name, nestedColumns(table, dialect)]),
    viewsOf(kinds, dialect),
    kinds.flatMap(({ name, excluded = [] }) => excluded.map((field) => [name, field.name])),
  ]);
  return createHash('sha256').update(shape).digest('hex');
}
