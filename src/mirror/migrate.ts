import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import type { Kind } from '../catalog/kind.ts';
import { MirrorError } from './errors.ts';
import { asMirrored } from './field-store.ts';
import { growKindTable } from './grow-kind-tables.ts';
import { kindColumns } from './kind-table.ts';
import type { Dialect } from './kind-table.ts';
import { readMeta, writeMeta } from './meta.ts';
import type { Session, Transaction } from './session.ts';
import { drawViews, viewsOf } from './views.ts';

/** Raised with every release that an older one must not write beside. */
const MIRROR_VERSION = 4;

const MIGRATIONS: Record<Dialect, string> = {
  sqlite: fileURLToPath(new URL('../../migrations/sqlite', import.meta.url)),
  postgres: fileURLToPath(new URL('../../migrations/postgres', import.meta.url)),
};

/**
 * Brings a database to the shape that this release and these kinds need, in one transaction; a no-op where it has it.
 *
 * @returns Whether anything had to be done.
 * @throws {MirrorError} `mirror.newer` where a newer release has been at it, `mirror.not_ours` where it is no mirror.
 */
export async function migrate(session: Session, kinds: readonly Kind[]): Promise<boolean> {
  const { dialect, location } = session;
  return session.atomically(async (tx) => {
    const layout = layoutOf(kinds, dialect);
    refuseNewer(await versionOf(tx), location);
    if (await isCurrent(tx, layout)) return false;
    await refuseForeign(tx, kinds, location);
    await migrateEngine(tx, dialect);
    const mirrored: Kind[] = [];
    for (const kind of kinds) mirrored.push(await asMirrored(tx, kind));
    for (const kind of mirrored) await growKindTable(tx, kind, dialect);
    await drawViews(tx, viewsOf(mirrored, dialect), dialect);
    await writeMeta(tx, 'version', String(MIRROR_VERSION));
    await writeMeta(tx, 'layout', layout);
    return true;
  });
}

/** The version that wrote the mirror last; null where it is none yet. */
async function versionOf(tx: Transaction): Promise<number | null> {
  return (await tx.columnsOf('mirror_meta')).size === 0 ? null : Number(await readMeta(tx, 'version'));
}

function refuseNewer(version: number | null, location: string): void {
  if (version === null || version <= MIRROR_VERSION) return;
  const message = `The mirror ${location} has version ${version}, this release knows versions up to ${MIRROR_VERSION}.`;
  throw new MirrorError(message, {
    code: 'mirror.newer',
    hint: 'Use the release of bms-sync that last wrote it, or a newer one.',
  });
}

async function isCurrent(tx: Transaction, layout: string): Promise<boolean> {
  return (await versionOf(tx)) === MIRROR_VERSION && (await readMeta(tx, 'layout')) === layout;
}

/** Our tables must not be found in a database that has never been a mirror: it is somebody else's. */
async function refuseForeign(tx: Transaction, kinds: readonly Kind[], location: string): Promise<void> {
  if ((await tx.columnsOf('mirror_meta')).size > 0) return;
  for (const { name } of kinds) {
    if ((await tx.columnsOf(name)).size === 0) continue;
    throw new MirrorError(`${location} has a table "${name}", and is no mirror of bms-sync.`, {
      code: 'mirror.not_ours',
      hint: 'Set DATABASE_URL to a database of its own for the mirror.',
    });
  }
}

async function migrateEngine(tx: Transaction, dialect: Dialect): Promise<void> {
  const done = (await versionOf(tx)) === null ? 0 : Number(await readMeta(tx, 'migrations'));
  const migrations = readMigrationFiles({ migrationsFolder: MIGRATIONS[dialect] });
  for (const migration of migrations.slice(done)) {
    for (const statement of migration.sql) await tx.execute(statement);
  }
  await writeMeta(tx, 'migrations', String(migrations.length));
}

/** A digest of every table and view that is declared: another digest, another shape. What is discovered is drawn at once. */
function layoutOf(kinds: readonly Kind[], dialect: Dialect): string {
  const shape = JSON.stringify([
    kinds.map((kind) => [kind.name, kindColumns(kind, dialect)]),
    viewsOf(kinds, dialect),
  ]);
  return createHash('sha256').update(shape).digest('hex');
}
