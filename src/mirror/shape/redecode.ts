import { createHash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import { columnType } from '../../catalog/kind.ts';
import type { Kind } from '../../catalog/kind.ts';
import { recordDecoder } from '../../diff/decode-record.ts';
import { parseObject } from '../../lib/json/json.ts';
import { saveFieldIssues } from '../records/issue-store.ts';
import type { Issue } from '../records/issue-store.ts';
import { KIND_STATE } from '../tables/engine-tables.ts';
import { OWN_COLUMNS, writtenColumns, writtenRow } from '../tables/kind-table.ts';
import { selectOne } from '../tables/rows.ts';
import type { Row, Session, SqlValue, Transaction } from '../session/session.ts';

/** Raised when the decoder reads the same text differently than before. */
const DECODER_VERSION = 3;
/** Values decoded in one transaction: more would block the event loop. */
const VALUES_A_TRANSACTION = 30_000;
const EVERY_ROW = sql`1 = 1`;

/**
 * Refills a kind's columns from `_raw` if its fields or the decoder have changed since they were filled.
 *
 * After an interruption it starts over at the next migration. The rows' own columns (when seen, when changed) stay.
 */
export async function redecode(session: Session, kind: Kind, now: Date): Promise<void> {
  const state = await selectOne(session, KIND_STATE, sql`where kind = ${kind.name}`);
  if (state === null || state.decodedAs === decoderOf(kind)) return;
  for (let after: string | null = '0'; after !== null;) {
    const from: string = after;
    after = await session.atomically((tx) => redecodeSome(tx, kind, { from, now, where: EVERY_ROW }));
  }
  await session.atomically((tx) =>
    tx.query(sql`update kind_state set decoded_as = ${decoderOf(kind)} where kind = ${kind.name}`),
  );
}

/** Refills the columns of some rows from `_raw` within one transaction, a thousand rows at a time. */
export async function redecodeWhere(
  tx: Transaction,
  kind: Kind,
  { where, now }: { readonly where: SQL; readonly now: Date },
): Promise<void> {
  for (let from: string | null = '0'; from !== null;)
    from = await redecodeSome(tx, kind, { from, now, where });
}

/** A digest of the rules by which a kind's columns are filled. */
export function decoderOf({ fields }: Kind): string {
  const rules = fields.map((field) => {
    const { name, scale, textOf } = field;
    return [name, columnType(field), scale ?? null, ...(textOf === undefined ? [] : [textOf])];
  });
  return createHash('sha256')
    .update(JSON.stringify([DECODER_VERSION, rules]))
    .digest('hex');
}

/** Decodes the next rows; returns the id after which to continue, or null if no rows are left. */
async function redecodeSome(
  tx: Transaction,
  kind: Kind,
  { from, now, where }: { readonly from: string; readonly now: Date; readonly where: SQL },
): Promise<string | null> {
  const limit = Math.ceil(VALUES_A_TRANSACTION / Math.max(1, kind.fields.length));
  const own = sql.join(
    OWN_COLUMNS.map((name) => sql.identifier(name)),
    sql`, `,
  );
  const rows = await tx.query(sql`
    select cast(id as text) as id, ${own} from ${sql.identifier(kind.name)} where id > ${from} and ${where} order by
      ${sql.identifier(kind.name)}.id limit ${limit}`);
  const found: Issue[] = [];
  const decodeStored = storedDecoder(kind, found);
  await tx.putRows({
    table: kind.name,
    columns: writtenColumns(kind, tx.dialect),
    rows: rows.map((row) => {
      const values = decodeStored(row);
      const own = OWN_COLUMNS.map((name) => row[name] ?? null);
      return writtenRow(kind, tx.dialect, { values, own });
    }),
  });
  await saveFieldIssues(tx, { kind: kind.name, recordIds: rows.map((row) => String(row['id'])), found, now });
  return rows.length < limit ? null : String(rows.at(-1)?.['id']);
}

/** Makes the decoder of a kind's rows, which adds the issues that it finds. */
function storedDecoder(kind: Kind, found: Issue[]): (row: Row) => SqlValue[] {
  const decode = recordDecoder(kind);
  return (row) => {
    const { values, misfits } = decode(parseObject(String(row['_raw'])));
    const id = String(row['id']);
    found.push(...misfits.map((misfit) => ({ recordId: id, ...misfit })));
    // A user may have copied a row under another id: by the id in `_raw`, the copy would overwrite its original.
    return kind.fields.map(({ name }, index) => (name === 'id' ? id : (values[index] ?? null)));
  };
}
