import { sql } from 'drizzle-orm';
import type { Kind } from '../catalog/kind.ts';
import { naturalKeyOf } from '../diff/match.ts';
import { isObject, tryParseJson } from '../lib/json/json.ts';
import type { Transaction } from '../db/session/session.ts';
import { sqlList } from '../db/session/sql-list.ts';
import { pickColumns, select } from '../db/rows/rows.ts';
import { inSlices } from '../db/rows/slices.ts';
import { OUTBOX } from '../store/tables/outbox-tables.ts';
import { OPEN_STATES } from '../store/outbox/outbox-store.ts';

const ENTRY = pickColumns(OUTBOX, 'id', 'kind', 'payload', 'naturalKey');
const ENTRIES_AT_ONCE = 1_000;

/** Computes the natural keys of open and done creates anew: another release may have spelled them otherwise. */
export async function renewNaturalKeys(tx: Transaction, kinds: readonly Kind[]): Promise<void> {
  const readNext = (after: number) =>
    select(
      tx,
      ENTRY,
      sql`where operation = 'create' and natural_key is not null and state in (${sqlList([...OPEN_STATES, 'done'])})
        and id > ${after} order by id limit ${ENTRIES_AT_ONCE}`,
    );
  for await (const entries of inSlices(ENTRIES_AT_ONCE, readNext, 0, (entry) => entry.id))
    for (const { id, kind: name, payload, naturalKey } of entries) {
      const kind = kinds.find((each) => each.name === name);
      const sent = tryParseJson(payload);
      const key = kind && isObject(sent) ? naturalKeyOf(kind, sent) : naturalKey;
      if (key !== naturalKey) await tx.query(sql`update outbox set natural_key = ${key} where id = ${id}`);
    }
}
