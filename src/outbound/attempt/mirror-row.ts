import type { Transaction } from '../../mirror/session/session.ts';

/** The mirror's copy of a record. */
export interface MirrorRow {
  /** The record as compact JSON, by the names of a read. */
  readonly raw: string;
  readonly isLive: boolean;
}

/** Reads the mirror's copies of these records; a record without a row is absent from the map. */
export async function readRows(
  tx: Transaction,
  kind: string,
  ids: readonly string[],
): Promise<Map<string, MirrorRow>> {
  const rows = await tx.rowsById(kind, ['_raw', '_deleted_at'], ids);
  return new Map(
    [...rows].map(([id, [raw, deletedAt]]) => [id, { raw: String(raw), isLive: deletedAt === null }]),
  );
}
