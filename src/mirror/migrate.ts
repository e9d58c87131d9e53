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
    if (await isCurrent(tx, layout)) return false;
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

async function isCurrent(tx: Transaction, layout: string): Promise<boolean> {
  if ((await tx.columnsOf('mirror_meta')).size === 0) return false;
  const version = Number(await readMeta(tx, 'version'));
  if (version > MIRROR_VERSION) {
    throw new MirrorError(
      `The mirror has version ${version}, this release knows versions up to ${MIRROR_VERSION}.`,
      {
        code: 'mirror.newer',
        hint: 'Use the release of bms-sync that last wrote it, or a newer one.',
      },
    );
  }
  return version === MIRROR_VERSION && (await readMeta(tx, 'layout')) === layout;
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
