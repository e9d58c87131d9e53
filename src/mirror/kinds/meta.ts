import { sql } from 'drizzle-orm';
import type { Queryable, Session } from '../../db/session/session.ts';
import { hasRow, readTexts } from '../../db/rows/rows.ts';

/**
 * `version`, `migrations` and `layout` describe the tables, `bi.reader_role` says who may read the views; `source.base_url`
 * says whose data they hold, `source.refused` since when and in how many runs the token is refused, and the latest of them;
 * `outbox.sends` is the mark that the last send left, `outbox.place` which database sends, so that
 * a copy of it does not, `outbox.frozen` why nothing is sent, `outbox.accepted_links` up to where links that the outbox knows
 * nothing of were accepted, `outbox.alters.<kind>` since when the service is known to alter natural keys of a kind;
 * `changes.forgotten_before` is up to when change events were removed; `schedules.<name>` is up to when a schedule's slots are
 * dealt with, `schedules` which was last; `integrity` is what the latest check of the database file found; `privacy.excluded`
 * says which fields are kept out: settings that do not speak of them are refused; `privacy.scrub` the step to do before the
 * file no longer holds them; `nested.<table>` is the sum by which elements are found that another program has added or
 * removed; `whole.<kind>` is the most rows with which a list came whole as page 2. The row `writer` holds no fact: PostgreSQL
 * transactions lock it.
 */
type MetaKey =
  | ('version' | 'migrations' | 'layout' | 'bi.reader_role')
  | ('source.base_url' | 'source.refused')
  | ('outbox.sends' | 'outbox.place' | 'outbox.frozen' | 'outbox.accepted_links')
  | `outbox.alters.${string}`
  | 'changes.forgotten_before'
  | 'integrity'
  | ('privacy.excluded' | 'privacy.scrub')
  | `nested.${string}`
  | `whole.${string}`
  | ('schedules' | `schedules.${string}`);

/** Whether a database holds a mirror, of this release or another; creates nothing. */
export async function isMirrorPresent(session: Session): Promise<boolean> {
  return hasRow(
    session,
    session.dialect === 'sqlite'
      ? sql`select 1 from sqlite_master where type = 'table' and name = 'mirror_meta'`
      : sql`select 1 where to_regclass('mirror_meta') is not null`,
  );
}

/** Reads a fact about the mirror as a whole. */
export async function readMeta(db: Queryable, key: MetaKey): Promise<string | null> {
  const [value = null] = await readTexts(db, sql`select value from mirror_meta where key = ${key}`);
  return value;
}

export async function writeMeta(db: Queryable, key: MetaKey, value: string): Promise<void> {
  await db.query(
    sql`insert into mirror_meta (key, value) values (${key}, ${value}) on conflict (key) do update set value = excluded.value`,
  );
}

export async function dropMeta(db: Queryable, key: MetaKey): Promise<void> {
  await db.query(sql`delete from mirror_meta where key = ${key}`);
}
