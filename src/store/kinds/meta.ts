import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { Queryable, Session, Transaction } from '../../db/session/session.ts';
import { hasRow, readTexts } from '../../db/rows/rows.ts';

/** The facts about a mirror as a whole. The row `writer` holds none: PostgreSQL transactions lock it. */
type MetaKey =
  | 'version' // With the next two, the shape of the tables and views.
  | 'migrations'
  | 'layout'
  | 'release' // That of the last writer.
  | 'log' // The mirror's identity: its numbers of rows, epochs and events count within it.
  | 'bi.reader_role' // Who may read the views.
  | 'language' // That of PostgreSQL's comments.
  | 'calendar' // The time zone in which days are counted.
  | 'calendar.yearBegins' // The month in which the fiscal year begins.
  | 'settings.kinds' // The kinds that the settings declare and include, as JSON.
  | `reports.${'sold' | 'owed' | 'bought'}` // The statuses that reports count.
  | 'source.base_url' // Whose data the mirror holds.
  | 'source.refused' // Since when the token is refused, the latest run or minute, and how many.
  | 'outbox.sends' // The mark that the last send left.
  | 'outbox.place' // Which database sends, so that a copy of it does not.
  | 'outbox.frozen' // Why nothing is sent.
  | 'move.to' // Of a file: the database that it moves or has moved to.
  | 'move.from' // Of a database that a move fills or has filled: the file.
  | 'outbox.accepted_links' // Up to where links that the outbox knows nothing of were accepted.
  | `outbox.alters.${string}` // Since when the service is known to alter natural keys of a kind.
  | `prompt.${string}` // How many of our creates of a kind complete sweeps have shown, since one came late.
  | 'changes.forgotten_before' // Up to when change events were removed.
  | 'changes.removed_up_to' // The `seq` of the last one of them.
  | 'integrity' // The findings of the latest check of the database file.
  | 'privacy.excluded' // Which fields are kept out: settings that do not name them are refused.
  | 'privacy.excluding' // The exclusions that are being applied.
  | `allowed.${string}` // The fields of a kind that are no longer kept out, until its list has been read with them.
  | `refilled.${string}` // Which of them it was read with last, and when.
  | 'privacy.scrub' // The step to do before the file no longer holds them.
  | `volatile.${string}` // The fields of a kind that most rows show otherwise with each sweep.
  | `page_size.${string}` // The smaller pages in which a kind's list is read, the size of the settings, and since when.
  | `scope.${string}` // Whether rows older than a kind's list stay, or how often exactly the oldest were deleted.
  | `filled.${string}` // Up to which id the rows of a kind have a column of ours, until all have it.
  | `holders.${string}` // Whose tokens have read a kind's list to its end, by digests.
  | `held.${string}` // By which rule records of a kind were held together last.
  | `shown.${string}` // Which held records of a kind a person was shown last.
  | `whole.${string}` // The longest page 1 of a kind that was repeated as page 2.
  | 'digest' // The day of the last one, and the event before it.
  | `alerts.${string}` // The position of a rule in the events, and the time of its last notification.
  | `date.${string}` // Since when, by a machine's own clock, its date has held.
  | `alive.${string}` // A process looks for it through a new connection.
  | `signed_out.${string}` // Until when the cookie of a browser that signed out would still be good.
  | `due.${string}` // The latest slot that was due to read a kind, as `runs.slot` has it.
  | `schedules.${string}` // Up to when a schedule's slots are dealt with.
  | `applies.${string}`; // The text of a schedule, and since when `serve` pulls by it.

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

/** Reads a fact that is stored as JSON; null if there is none. */
export async function readMetaJson(db: Queryable, key: MetaKey): Promise<unknown> {
  return JSON.parse((await readMeta(db, key)) ?? 'null');
}

/** Writes a fact; null removes it. */
export async function writeMeta(db: Queryable, key: MetaKey, value: string | null): Promise<void> {
  if (value === null) return deleteMeta(db, key);
  await db.query(
    sql`insert into mirror_meta (key, value) values (${key}, ${value}) on conflict (key) do update set value = excluded.value`,
  );
}

export async function deleteMeta(db: Queryable, key: MetaKey): Promise<void> {
  await db.query(sql`delete from mirror_meta where key = ${key}`);
}

/** Gives the mirror an identity that no other one has had: after a restore its numbers may come a second time. */
export const renewLog = (tx: Transaction): Promise<void> => writeMeta(tx, 'log', randomUUID());
