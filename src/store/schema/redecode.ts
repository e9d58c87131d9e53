import { isDeepStrictEqual } from 'node:util';
import { sql, type SQL } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { createRecordDecoder } from '../../diff/decode-record.ts';
import { parseObject } from '../../lib/json/json.ts';
import { saveFieldIssues, type Issue } from '../records/issue-store.ts';
import { batchesById } from '../../db/rows/slices.ts';
import { writeNestedRows } from '../records/nested-rows.ts';
import type { Row, Session, Transaction } from '../../db/session/session.ts';
import { KIND_STATE } from '../tables/engine-tables.ts';
import {
  OWN_COLUMNS,
  decoderHash,
  filledColumns,
  writtenColumns,
  rowWriter,
  type Dialect,
} from '../tables/kind-table.ts';
import { selectOne } from '../../db/rows/rows.ts';
import { inChunks } from '../../db/session/sql-text.ts';
import { joinWithCommas, sqlList } from '../../db/session/sql-list.ts';

/** Values decoded in one transaction: more would block the event loop. */
const VALUES_A_TRANSACTION = 10_000;

export interface RefillOptions {
  readonly now: Date;
  /** Gets how far a kind is refilled. */
  readonly onProgress?: ((progress: { readonly kind: string; readonly rows: number }) => void) | undefined;
}

/**
 * Refills a kind's columns and its nested tables from `_raw` if their fields or the decoder have changed since they were
 * filled. After an interruption it starts over at the next migration. The rows' own columns (when seen, when changed) stay.
 */
export async function redecode(session: Session, kind: Kind, options: RefillOptions): Promise<void> {
  const state = await selectOne(session, KIND_STATE, sql`where kind = ${kind.name}`);
  const rules = decoderHash(kind);
  if (state === null || state.decodedAs === rules) return;
  const isNestedOnly = columnsPart(state.decodedAs) === columnsPart(rules);
  const limit = rowsATransaction(kind);
  const refillNext = (after: string) => {
    const next = sql`where k.id > ${after} order by k.id limit ${limit}`;
    return session.atomically((tx) => refillRows(tx, kind, next, { now: options.now, isNestedOnly }));
  };
  let rows = 0;
  for await (const { length } of batchesById(limit, refillNext)) {
    rows += length;
    options.onProgress?.({ kind: kind.name, rows });
  }
  await session.atomically((tx) =>
    tx.query(sql`update kind_state set decoded_as = ${rules} where kind = ${kind.name}`),
  );
}

const columnsPart = (rules: string | null): string | undefined => rules?.split(' ')[0];

interface Refill {
  readonly now: Date;
  /** The columns are filled by the present rules already. */
  readonly isNestedOnly: boolean;
}

const rowsATransaction = (kind: Kind): number =>
  Math.ceil(VALUES_A_TRANSACTION / Math.max(1, kind.fields.length));

/** Refills the columns of some records and their nested rows from `_raw`. Returns how many rows had other values in their columns. */
export async function refill(session: Session, kind: Kind, ids: readonly string[], now: Date) {
  const most = Math.min(rowsATransaction(kind), 500);
  const columns = filledColumns(kind, session.dialect);
  let repaired = 0;
  for (const some of inChunks(ids, most))
    await session.atomically(async (tx) => {
      const before = await tx.readRowsById(kind.name, columns, some);
      await refillRows(tx, kind, sql`where k.id in (${sqlList(some)})`, { now, isNestedOnly: false });
      for (const [id, values] of await tx.readRowsById(kind.name, columns, some))
        if (!isDeepStrictEqual(before.get(id), values)) repaired++;
    });
  return repaired;
}

async function refillRows(tx: Transaction, kind: Kind, which: SQL, refill: Refill) {
  const ownValues = joinWithCommas(OWN_COLUMNS.map((name) => sql.identifier(name)));
  const rows = await tx.query(sql`
    select cast(id as text) as id, ${ownValues} from ${sql.identifier(kind.name)} as k ${which}`);
  const found: Issue[] = [];
  const records = decodeStored(kind, tx.dialect, rows, found);
  if (!refill.isNestedOnly)
    await tx.upsertRows({
      table: kind.name,
      columns: writtenColumns(kind, tx.dialect),
      rows: records.map((record) => record.row),
    });
  await writeNestedRows(tx, { kind, records, found, now: refill.now });
  const recordIds = records.map((record) => record.id);
  await saveFieldIssues(tx, { kind: kind.name, recordIds, found, now: refill.now });
  return records;
}

/** Decodes rows of a kind, read with their id and `OWN_COLUMNS`, again from `_raw`. @param found Gets the issues. */
export function decodeStored(kind: Kind, dialect: Dialect, rows: readonly Row[], found: Issue[]) {
  const decode = createRecordDecoder(kind);
  const writeRow = rowWriter(kind, dialect);
  return rows.map((row) => {
    const id = String(row['id']);
    const record = parseObject(String(row['_raw']));
    const { values, misfits } = decode(record);
    found.push(...misfits.map((misfit) => ({ recordId: id, ...misfit })));
    // A user may have copied a row under another id: by the id in `_raw`, the copy would overwrite its original.
    const ofFields = kind.fields.map(({ name }, at) => (name === 'id' ? id : (values[at] ?? null)));
    const ownValues = OWN_COLUMNS.map((name) => row[name] ?? null);
    return { id, record, row: writeRow(ofFields, ownValues) };
  });
}
