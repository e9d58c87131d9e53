import { sql } from 'drizzle-orm';
import { errorCode } from '../../lib/sync-error.ts';
import { MirrorError } from '../../db/session/errors.ts';
import type { Transaction } from '../../db/session/session.ts';
import { TABLES_SCHEMA, identifier, placeOf } from '../../db/session/sql-text.ts';
import { hasRow } from '../../db/rows/rows.ts';
import { drawRefusal, drawViews, selectOf } from '../views/draw-views.ts';
import type { View } from '../views/draw-views.ts';

/**
 * Replaces our views after the tables have changed. A view that loses a column, or changes the type of one, is made anew in
 * PostgreSQL; any other gets new columns at its end, so that what users have built on it goes on.
 */
export async function replaceViews(tx: Transaction, views: readonly View[]): Promise<void> {
  if (tx.dialect === 'postgres') {
    await drawRefusal(tx);
    for (const view of views)
      if (!(await onlyGrows(tx, view))) await tx.execute(`drop view ${placeOf(view.name)}`);
  }
  await drawViews(tx, views, tx.dialect);
}

/** Whether a view in PostgreSQL keeps all its columns, with their types and in their order; true if there is none yet. */
async function onlyGrows(tx: Transaction, view: View): Promise<boolean> {
  const present = await tx.columnsOf(view.name);
  if (present.size === 0) return true;
  const draft = `${TABLES_SCHEMA}.${identifier(view.name)}`;
  await tx.execute(`create view ${draft} as ${selectOf(view, [...present])}`);
  const changed = sql`
    select 1 from pg_attribute old
    where attrelid = to_regclass(${placeOf(view.name)}) and attnum > 0 and not exists (
      select from pg_attribute new where new.attrelid = to_regclass(${draft}) and new.attnum = old.attnum
        and new.attname = old.attname and new.atttypid = old.atttypid
        and new.atttypmod = old.atttypmod and new.attcollation = old.attcollation)`;
  const isChanged = await hasRow(tx, changed);
  await tx.execute(`drop view ${draft}`);
  return !isChanged;
}

/**
 * Changes tables. SQLite would refuse because of views that read what is dropped, although they are made again or stay texts
 * that it only resolves when they are read.
 */
export async function ignoringViews(tx: Transaction, change: () => Promise<void>): Promise<void> {
  if (tx.dialect === 'postgres') {
    await change();
    return;
  }
  await tx.execute('pragma legacy_alter_table = on');
  try {
    await change();
  } finally {
    await tx.execute('pragma legacy_alter_table = off');
  }
}

/** PostgreSQL's error codes for a change or drop of an object that others depend on. */
const NEEDED: readonly string[] = ['0A000', '2BP01'];

/**
 * Runs a migration, and says what PostgreSQL says is in its way.
 * @throws {MirrorError} `mirror.blocked_by_view` if an object of a user's own depends on what changes.
 */
export async function namingObstacles<T>(location: string, migration: () => Promise<T>): Promise<T> {
  try {
    return await migration();
  } catch (error) {
    if (!(error instanceof Error) || !NEEDED.includes(errorCode(error))) throw error;
    const detail = 'detail' in error && typeof error.detail === 'string' ? error.detail : error.message;
    throw new MirrorError(
      `${location} cannot be migrated: what you have built on it needs what changes: ${detail.replaceAll('\n', '; ')}.`,
      {
        code: 'mirror.blocked_by_view',
        hint: 'Nothing was changed. Keep its SQL, drop it, run bms-sync migrate, and make it again.',
        cause: error,
      },
    );
  }
}
