import type { Kind } from '../../catalog/kind.ts';
import { parseObject } from '../../lib/json/json.ts';
import { saveRepairs } from '../../mirror/records/issue-store.ts';
import { findAlteredElements } from '../../mirror/records/nested-elements.ts';
import { putNestedRows, removeStrayElements, touchedTables } from '../../mirror/records/nested-rows.ts';
import { liveIds } from '../../mirror/records/record-store.ts';
import { readStored } from '../../mirror/records/stored-rows.ts';
import type { Transaction } from '../../mirror/session/session.ts';
import { inChunks } from '../../mirror/session/sql-text.ts';
import { isRecord } from '../land/altered-rows.ts';
import type { PullParts } from '../run/parts.ts';
import type { Sweep } from '../state/sweep.ts';
import { underLease } from './under-lease.ts';

const ROWS_A_TRANSACTION = 500;

/**
 * Restores the elements of nested arrays where another program has added or removed some, without an event.
 *
 * A stop leaves the tables noted as written to: the next sweep compares them from the start.
 *
 * Costs one scan of an index, until such a table is found: then the elements of all live rows are compared with `_raw`.
 *
 * @returns The number of records whose elements were repaired.
 */
export async function repairElements(parts: PullParts, sweep: Sweep): Promise<number> {
  const { kind } = sweep;
  const touched = await touchedTables(parts.session, kind);
  if (touched.length === 0) return 0;
  let mended = 0;
  for await (const text of liveIds(parts.session, kind.name))
    for (const ids of inChunks(text === '' ? [] : text.split(','), ROWS_A_TRANSACTION)) {
      mended += await underLease(parts, sweep, (tx, now) => mendElements(tx, kind, { ids, now }));
      if (parts.signal?.aborted) return mended;
    }
  return underLease(parts, sweep, async (tx, now) => {
    const strays = await removeStrayElements(tx, kind, touched);
    const repairs = strays.map((id) => ({ id, detail: 'elements were added under an id that has no row' }));
    await saveRepairs(tx, kind.name, { repairs, now });
    return mended + strays.length;
  });
}

/** Writes the elements of rows anew where they differ from `_raw`; its issues stay as they are, because it has not changed. */
async function mendElements(
  tx: Transaction,
  kind: Kind,
  { ids, now }: { readonly ids: readonly string[]; readonly now: Date },
): Promise<number> {
  const rows = [...(await readStored(tx, kind, ids))].filter(([, { raw }]) => isRecord(raw));
  const records = rows.map(([id, { raw }]) => ({ id, record: parseObject(raw) }));
  const altered = await findAlteredElements(tx, kind, records);
  const repairs = [...altered].map(([id, arrays]) => ({
    id,
    detail: `elements changed: ${arrays.join(', ')}`,
  }));
  const wrong = records.filter(({ id }) => altered.has(id));
  await putNestedRows(tx, { kind, records: wrong, found: [], now });
  await saveRepairs(tx, kind.name, { repairs, now });
  return wrong.length;
}
