import { sql, type SQL } from 'drizzle-orm';
import { isRecordId } from '../../diff/compare-page.ts';
import { keyText } from '../../diff/match.ts';
import type { Kind } from '../../catalog/kind.ts';
import type { Queryable } from '../../db/session/session.ts';
import { SyncError } from '../../lib/sync-error.ts';
import type { MessageKey } from '../../lib/text/translator.ts';
import { readMirroredKind } from '../kinds/field-store.ts';
import { readUnfilled } from '../kinds/unfilled.ts';
import { KEY_COLUMN, keyedFields } from '../tables/key-column.ts';
import { SEARCH_COLUMN, searchedWords } from '../tables/search-text.ts';
import { searchTables, type SearchTable } from '../tables/kind-table.ts';
import { listRecords } from './record-store.ts';

interface Wanted {
  /** The input of a person: the id, or words that all stand in its code, names, phone numbers and addresses, in one of its rows. */
  readonly text: string;
  /** Only records with a higher id. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export const NOT_FOUND: MessageKey =
  'No record has all of these words in its code, name, phone number or e-mail.';

/**
 * Finds the first records of a kind by a text, deleted ones too; accents and case do not count. On the first page, those whose id or
 * natural key it is come first; the others follow in the order of their ids.
 * @returns `isPrepared`: false as long as records of an older release lack their search texts: they are not found yet.
 */
export async function searchRecords(db: Queryable, kind: Kind, { text, after, limit }: Wanted) {
  const words = searchedWords(text).toSorted((a, b) => b.length - a.length); // The longest is the rarest: few texts are tested for the others.
  const mirrored = await readMirroredKind(db, kind);
  const isPrepared = !(await readUnfilled(db, kind)).has(SEARCH_COLUMN);
  if (words.length === 0) return { records: [], isPrepared };
  const isExact = exactly(mirrored, text.trim());
  const exact = isExact === null ? [] : await listRecords(db, kind.name, isExact, limit);
  const most = limit + exact.length;
  const byText = searchTables(mirrored).map((table) => idsIn(table, words, after ?? '0', most));
  const ids = sql`k.id in (${sql.join(byText, sql` union `)})`;
  const found = byText.length === 0 ? [] : await listRecords(db, kind.name, ids, most);
  const others = found.filter(({ id }) => !exact.some((record) => record.id === id)).slice(0, limit);
  return { records: after === undefined ? [...exact, ...others] : others, isPrepared };
}

/** Whether a text is the id or the natural key of `k`; null if it can be neither. */
function exactly(kind: Kind, text: string): SQL | null {
  const byId = isRecordId(text) ? [sql`k.id = ${text}`] : [];
  const byKey =
    keyedFields(kind).length === 1 ? [sql`k.${sql.identifier(KEY_COLUMN)} = ${keyText([text])}`] : [];
  const ways = [...byId, ...byKey];
  return ways.length === 0 ? null : sql.join(ways, sql` or `);
}

/**
 * The records that `searchRecords` finds, all of them.
 * @throws {SyncError} `search.preparing` as long as records lack their search texts.
 */
export async function findRecords(db: Queryable, kind: Kind, wanted: Wanted) {
  const { records, isPrepared } = await searchRecords(db, kind, wanted);
  if (isPrepared) return records;
  throw new SyncError(`The search in ${kind.name} is being prepared.`, {
    code: 'search.preparing',
    hint: `The next pull ends it: bms-sync pull ${kind.name}. Until then, give the id of the record.`,
  });
}

function idsIn(table: SearchTable, words: readonly string[], after: string, limit: number): SQL {
  const column = sql.identifier(table.id);
  const hasAll = sql.join(
    words.map((word) => sql`${sql.identifier(SEARCH_COLUMN)} like ${`%${word}%`}`),
    sql` and `,
  );
  return sql`
    select id from (
      select distinct ${column} as id from ${sql.identifier(table.name)}
      where ${hasAll} and ${column} > ${after} order by ${column} limit ${limit}) as f`;
}
