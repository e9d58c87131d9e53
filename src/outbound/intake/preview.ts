import { hasAllSentValues } from '../../diff/match.ts';
import { merge, type Merge } from '../../diff/merge-update.ts';
import { parseObject, type JsonObject } from '../../lib/json/json.ts';
import type { Session } from '../../db/session/session.ts';
import type { CheckedEntry } from './entry-request.ts';
import { findRecordsWithKey } from './duplicate-check.ts';
import { readOwnRows } from '../attempt/land-own-write.ts';

/** A request as it would be sent. */
export interface RequestShown {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly body: JsonObject;
}

/** A record of the mirror with the natural key of the record to be created; `exact`: with all its fields. */
interface SimilarRecord {
  readonly recordId: string;
  readonly match: 'exact' | 'natural key';
}

/** The effects of an entry, as far as the mirror knows them; nothing was stored or sent. */
export type Preview = {
  readonly kind: string;
  readonly key: string;
  readonly notes: readonly string[];
} & (
  | { readonly operation: 'create'; readonly request: RequestShown; readonly alike: readonly SimilarRecord[] }
  | {
      readonly operation: 'update';
      readonly recordId: string;
      /** The update merged with the mirror's row, in place of the service's record; null if there is no row. */
      readonly merge: Merge | null;
      /** Null where nothing would be sent. */
      readonly request: RequestShown | null;
    }
);

/** Computes the effects of an entry, without storing or sending it. */
export async function previewEntry(session: Session, entry: CheckedEntry): Promise<Preview> {
  const { kind, key, notes, path } = entry;
  const shared = { kind: kind.name, key, notes };
  const wanted = parseObject(entry.payload);
  if (entry.operation === 'create') {
    const alike = (await findRecordsWithKey(session, kind, entry.payload)).map((record): SimilarRecord => {
      const isExact = hasAllSentValues(kind, wanted, parseObject(record.raw));
      return { recordId: record.id, match: isExact ? 'exact' : 'natural key' };
    });
    return { ...shared, operation: 'create', request: { method: 'POST', path, body: wanted }, alike };
  }
  const recordId = entry.recordId ?? '';
  const row = (await readOwnRows(session, kind.name, [recordId])).get(recordId);
  const merged = row
    ? merge({ kind, wanted, base: parseObject(entry.base ?? row.raw), remote: parseObject(row.raw) })
    : null;
  const body = merged === null ? wanted : merged.is === 'set' ? merged.body : null;
  const request = body && ({ method: 'PUT', path: path.replace(':id', recordId), body } as const);
  return { ...shared, operation: 'update', recordId, merge: merged, request };
}
