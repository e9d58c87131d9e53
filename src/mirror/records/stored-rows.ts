import type { Kind } from '../../catalog/kind.ts';
import { judge } from '../../diff/judge-page.ts';
import type { Incoming, Stored, RecordChange } from '../../diff/judge-page.ts';
import { inListShape } from '../../diff/shapes.ts';
import type { SqlValue, Transaction, Values } from '../session/session.ts';

/** The part of a record's row that is needed to compare and write a newer reading. */
export interface StoredRow extends Stored {
  readonly firstSeenAt: SqlValue;
  readonly changedAt: SqlValue;
  readonly deletedAt: SqlValue;
  /** The tick of its first list sighting; null = it was only ever retrieved singly. */
  readonly listed: SqlValue;
}

/** A record that was read, together with its row. */
export interface Judged extends Incoming {
  readonly stored: StoredRow | undefined;
  readonly verdict: RecordChange;
  /** Changes by another program that writing this row repairs; empty if there are none. */
  readonly repair?: string;
}

const COLUMNS = ['_raw', '_response', '_deleted_at', '_first_seen_at', '_listed', '_changed_at'] as const;

/** Reads the rows with these ids; an id without a row is absent from the map. */
export async function readStored(
  tx: Transaction,
  kind: Kind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredRow>> {
  const rows = await tx.rowsById(kind.name, COLUMNS, ids);
  return new Map([...rows].map(([id, values]) => [id, storedRow(values)]));
}

/** Compares a record that was retrieved singly with its row, in the shape that its list shows. */
export function judgeAsked(kind: Kind, stored: StoredRow | undefined, received: Incoming): Judged {
  const hasShape = stored !== undefined && stored.listed !== null;
  const record = hasShape ? inListShape(received, stored.raw) : received;
  return { ...record, stored, verdict: judge(kind, stored, record) };
}

function storedRow(values: Values): StoredRow {
  const [raw, response, deletedAt = null, firstSeenAt = null, listed = null, changedAt = null] = values;
  return {
    raw: String(raw),
    response: Number(response),
    isDeleted: deletedAt !== null,
    ...{ firstSeenAt, listed, changedAt, deletedAt },
  };
}
