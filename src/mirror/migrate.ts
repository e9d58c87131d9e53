import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import type { Kind } from '../catalog/kind.ts';
import { MirrorError } from './errors.ts';
import { growKindTables } from './grow-kind-tables.ts';
import { identifier } from './identifier.ts';
import { kindColumns } from './kind-table.ts';
import { readMeta, writeMeta } from './meta.ts';
import type { Session, Transaction } from './session.ts';
import { views } from './views.ts';

/** Raised with every release that an older one must not write beside. */
const MIRROR_VERSION = 1;

const MIGRATIONS = fileURLToPath(new URL('../../migrations/sqlite', import.meta.url));

/**
 * Brings a database to the shape that this release and these kinds need, in one transaction; a no-op where it has it.
 *
 * @returns Whether anything had to be done.
 * @throws {MirrorError} `mirror.newer` where a newer release has been at it.
 */
export async function migrate(session: Session, kinds: readonly Kind[]): Promise<boolean> {
  return session.atomically(async (tx) => {
    const layout = layoutOf(kinds);
    refuseNewer(await versionOf(tx), session.location);
    if (await isCurrent(tx, layout)) return false;
    await refuseForeign(tx, kinds, session.location);
    for (const { name } of views(kinds)) await tx.execute(`drop view if exists ${identifier(name)}`);
    await migrateEngine(tx);
    await growKindTables(tx, kinds);
    for (const { name, select } of views(kinds))
      await tx.execute(`create view ${identifier(name)} as ${select}`);
    await writeMeta(tx, 'version', String(MIRROR_VERSION));
    await writeMeta(tx, 'layout', layout);
    return true;
  });
}

/** The version that wrote the mirror last; 0 where it is none yet. */
async function versionOf(tx: Transaction): Promise<number> {
  return (await tx.columnsOf('mirror_meta')).size === 0 ? 0 : Number(await readMeta(tx, 'version'));
}

function refuseNewer(version: number, location: string): void {
  if (version <= MIRROR_VERSION) return;
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

async function migrateEngine(tx: Transaction): Promise<void> {
  const isNew = (await tx.columnsOf('mirror_meta')).size === 0;
  const done = isNew ? 0 : Number(await readMeta(tx, 'migrations'));
  const migrations = readMigrationFiles({ migrationsFolder: MIGRATIONS });
  for (const migration of migrations.slice(done)) {
    for (const statement of migration.sql) await tx.execute(statement);
  }
  await writeMeta(tx, 'migrations', String(migrations.length));
}

/** A digest of every table and view that is derived from the catalogue: another digest, another shape. */
function layoutOf(kinds: readonly Kind[]): string {
  const shape = JSON.stringify([kinds.map((kind) => [kind.name, kindColumns(kind)]), views(kinds)]);
  return createHash('sha256').update(shape).digest('hex');
}
