import { hasAllSentValues } from '../../diff/match.ts';
import { merge } from '../../diff/merge-update.ts';
import { parseObject } from '../../lib/json/json.ts';
import type { Session } from '../../db/session/session.ts';
import { openCreatesByKey } from '../../store/outbox/outbox-queue.ts';
import type { CheckedEntry } from './entry-request.ts';
import { caseNotes, findRecordsWithKeys } from './duplicate-check.ts';
import { rowNotes } from './intake.ts';
import { readOwnRows } from '../mirror-rows.ts';

/** The effects of an entry, as far as the mirror knows them; nothing was stored or sent. */
export type Preview = Awaited<ReturnType<typeof previewEntry>>;

/**
 * Computes the effects of an entry, without storing or sending it: the request as it would be sent, null where none would be. With it
 * the mirror's records that have the natural key of the one to be created, or the merge of an update with the mirror's row.
 */
export async function previewEntry(session: Session, entry: CheckedEntry) {
  const { kind, key, path } = entry;
  const shared = { kind: kind.name, key };
  const wanted = parseObject(entry.payload);
  if (entry.operation === 'create') {
    const holders = (await findRecordsWithKeys(session, kind, [entry.payload])).get(entry.payload) ?? [];
    const alike = holders
      .filter((record) => !record.isByCaseAlone)
      .map((record) => {
        const isExact = hasAllSentValues(kind, wanted, parseObject(record.raw));
        return { recordId: record.id, match: isExact ? 'exact' : 'natural key' };
      });
    return {
      ...shared,
      notes: [...entry.notes, ...caseNotes(entry, holders, await openCreatesByKey(session, kind.name))],
      operation: 'create' as const,
      request: { method: 'POST', path, body: wanted },
      alike,
    };
  }
  const recordId = entry.recordId ?? '';
  const row = (await readOwnRows(session, kind.name, [recordId])).get(recordId);
  const notes = [...entry.notes, ...rowNotes(entry, row ?? null)];
  const merged = row
    ? merge({ kind, wanted, base: parseObject(entry.base ?? row.raw), remote: parseObject(row.raw) })
    : null;
  const body = merged === null ? wanted : merged.is === 'set' ? merged.body : null;
  const request = body && { method: 'PUT', path: path.replace(':id', recordId), body };
  return { ...shared, notes, operation: 'update' as const, recordId, merge: merged, request };
}
