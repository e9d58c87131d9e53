import { sql, type SQL } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { hasNaturalKeyOf } from '../../diff/match.ts';
import { foldWords, objectsIn, identifyingTexts } from '../../diff/record-texts.ts';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { OPEN_STATES } from '../outbox/outbox-store.ts';
import { OUTBOX, OUTBOX_ATTEMPTS } from '../tables/outbox-tables.ts';
import { hasRow, pickColumns, readTexts, select } from '../../db/rows/rows.ts';

/** Where a record's content is beside its row and its events. */
export type RecordTraces = Awaited<ReturnType<typeof findTraces>>;

const ENTRY = pickColumns(OUTBOX, 'id', 'state', 'payload', 'base', 'result', 'settlement', 'naturalKey');
const ATTEMPT = pickColumns(OUTBOX_ATTEMPTS, 'outboxId', 'request', 'responseStart');

/** A condition of rows that name no record that the mirror has. */
export const isWithoutRow = (kind: string): SQL => sql`(record_id is null
  or record_id not in (select cast(known.id as text) from ${sql.identifier(kind)} as known))`;

/** Finds the traces of a record by its id, by its natural key and by its texts; it must not be erased yet. */
export async function findTraces(tx: Transaction, kind: Kind, id: string) {
  const { name } = kind;
  const ofThisRecord = sql`kind = ${name} and (record_id = ${id}
    or id in (select l.outbox_id from links as l where l.kind = ${name} and l.record_id = ${id}))`;
  const ofRecord = sql`kind = ${name} and record_id = ${id}`;
  const contents = objectsIn(
    await readTexts(
      tx,
      sql`select _raw from ${sql.identifier(name)} where id = ${id} union select payload from outbox where ${ofThisRecord}
        union select base from outbox where ${ofThisRecord} union select before from changes where ${ofRecord}
        union select after from changes where ${ofRecord}`,
    ),
  );
  const hasContent = createContentTest(tx, name, id, [...new Set(contents.flatMap(identifyingTexts))]);
  const ofNoRecord = sql`kind = ${name} and ${isWithoutRow(name)} and id not in (select id from outbox where ${ofThisRecord})`;
  const attempts = Map.groupBy(
    await select(tx, ATTEMPT, sql`where outbox_id in (select id from outbox where ${ofNoRecord})`),
    (attempt) => attempt.outboxId,
  );
  const entries = await select(tx, ENTRY, sql`where ${ofThisRecord}`);
  for (const entry of await select(tx, ENTRY, sql`where ${ofNoRecord}`)) {
    const [payload] = objectsIn([entry.payload]);
    const isSame =
      payload !== undefined && contents.some((content) => hasNaturalKeyOf(kind, payload, content));
    const texts = [entry, ...(attempts.get(entry.id) ?? [])].flatMap((row) => Object.values(row));
    if (isSame || (await hasContent(texts.join(' ')))) entries.push(entry);
  }
  return {
    /** Entries of the outbox that concern the record, or that have its content and no other record. */
    entries: entries.map((entry) => ({ id: String(entry.id), isOpen: OPEN_STATES.includes(entry.state) })),
    /** Whether a text has a text of the record that no other record of its kind has. */
    hasContent,
  };
}

/** A text that another record has, too, identifies neither; the mirror is searched for it only once it is found somewhere. */
function createContentTest(db: Queryable, kind: string, id: string, texts: readonly string[]) {
  const forms = texts.map((text) => ({ text, folded: foldWords(text) }));
  const shared = new Map<string, boolean>();
  return async (searchedText: string): Promise<boolean> => {
    const searched = foldWords(searchedText);
    for (const { text } of forms.filter((form) => searched.includes(form.folded))) {
      const elsewhere = sql`select 1 from ${sql.identifier(kind)} where id <> ${id}
        and replace(_raw, ${JSON.stringify(text)}, '') <> _raw limit 1`;
      const isShared = shared.get(text) ?? (await hasRow(db, elsewhere));
      shared.set(text, isShared);
      if (!isShared) return true;
    }
    return false;
  };
}
