import type { Kind } from '../../catalog/kind.ts';
import { decodeRecord } from '../../diff/decode-record.ts';
import { parseObject } from '../../lib/json.ts';
import { OWN_COLUMNS, writtenColumns, writtenRow } from '../../mirror/tables/kind-table.ts';
import type { SqlValue, Transaction } from '../../mirror/session/session.ts';
import type { Judged } from '../../mirror/records/stored-rows.ts';

/** Finds unchanged records whose columns differ from the decoding of their own content, so that they are rewritten. */
export async function findTampered(
  tx: Transaction,
  kind: Kind,
  unchanged: readonly Judged[],
): Promise<ReadonlyMap<string, Judged>> {
  const own: ReadonlySet<string> = new Set(OWN_COLUMNS);
  const names = writtenColumns(kind, tx.dialect).filter((name) => !own.has(name));
  const held = await tx.rowsById(
    kind.name,
    names,
    unchanged.map(({ id }) => id),
  );
  const tampered = new Map<string, Judged>();
  for (const judged of unchanged) {
    const columns = held.get(judged.id);
    if (columns === undefined || judged.stored === undefined) continue;
    const { raw } = judged.stored; // The columns' own source: the record may spell the same values in another way.
    const record = parseObject(raw);
    const { values: decoded } = decodeRecord(kind, record);
    const values = writtenRow(kind, tx.dialect, { values: decoded, own: [] });
    const differing = names.filter((_, at) => textOf(columns[at]) !== textOf(values[at]));
    if (differing.length > 0)
      tampered.set(judged.id, { ...judged, raw, record, repair: `columns changed: ${differing.join(', ')}` });
  }
  return tampered;
}

/** A database may give a number back as text, or a text as a number. */
const textOf = (value: SqlValue | undefined): string | null =>
  value === null || value === undefined ? null : String(value);
