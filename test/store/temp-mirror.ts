import { sql } from 'drizzle-orm';
import { onTestFinished } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Field, Kind } from '../../src/catalog/kind.ts';
import { MirrorError } from '../../src/db/session/errors.ts';
import { SyncError } from '../../src/lib/sync-error.ts';
import type { Row, Session, Transaction, Values } from '../../src/db/session/session.ts';
import { openSqliteSession } from '../../src/db/sqlite/session.ts';
import { copyMirror } from '../support/sqlite-templates.ts';
import { freshMirror } from '../support/temp-folder.ts';

// A test among those of whole processes still takes it from here.

/** The instant at which tests take place. */
export const NOON = new Date('2026-03-01T12:00:00Z');
export const NOON_TEXT = '2026-03-01 12:00:00.000';
/** The same, as JSON shows it. */
export const NOON_JSON = '2026-03-01T12:00:00.000Z';
/** As the command line prints it. */
export const NOON_PRINTED = '2026-03-01 12:00:00 UTC';

export const later = (ms: number): Date => new Date(NOON.getTime() + ms);

/** An empty SQLite database of its own, closed and removed when the test ends. */
export function tempSession(): Session {
  return openForTest(freshMirror());
}

/** Opens a file until the test ends. */
export function openForTest(path: string): Session {
  const session = openSqliteSession(path);
  onTestFinished(() => session.close());
  return session;
}

/** A mirror in the shape of this release. */
export async function tempMirror(kinds: readonly Kind[] = KINDS): Promise<Session> {
  const path = freshMirror();
  await copyMirror(path, kinds);
  return openForTest(path);
}

export function kindNamed(name: string): Kind {
  const kind = KINDS.find((candidate) => candidate.name === name);
  if (!kind) throw new Error(`no kind ${name}`);
  return kind;
}

/** A kind of its own with these fields. */
export const madeUpKind = (name: string, fields: readonly Field[]): Kind => ({
  ...kindNamed('bookings'),
  name,
  fields: [{ name: 'id', type: 'integer' }, ...fields],
  hints: [],
});

/** A column as in `pragma table_xinfo`. */
export async function columnsOf(session: Session, table: string): Promise<[name: string, type: string][]> {
  const rows = await session.query(sql`select name, type from pragma_table_xinfo(${table}) order by cid`);
  return rows.map((row) => [String(row['name']), String(row['type'])]);
}

export interface StoredRecord {
  readonly id: string;
  readonly [column: string]: Values[number];
}

/** Puts rows into a kind's table as landing would; what is not given is null, our own columns have plain values. */
export async function putRecords(
  tx: Transaction,
  table: string,
  records: readonly StoredRecord[],
): Promise<void> {
  const own = { _raw: '{}', _first_seen_at: NOON_TEXT, _changed_at: NOON_TEXT, _response: 1 };
  const columns = [...new Set([...Object.keys(own), ...records.flatMap((record) => Object.keys(record))])];
  const rows = records.map((record) => {
    const full: Row = { ...own, ...record };
    return columns.map((column) => full[column] ?? null);
  });
  await tx.upsertRows({ table, columns, rows });
}

/** What was thrown; fails where nothing was. */
export async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}

/** The SyncError that was thrown; another error is passed on. */
export async function syncErrorOf(work: () => unknown): Promise<SyncError> {
  const error = await thrownBy(work);
  if (error instanceof SyncError) return error;
  throw error;
}

/** The `code` of the MirrorError that was thrown; another error is passed on. */
export async function mirrorFault(work: () => unknown): Promise<string> {
  const error = await thrownBy(work);
  if (error instanceof MirrorError) return error.code;
  throw error;
}

/** A promise to be kept by hand: tests order what runs at once without waiting for time to pass. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
