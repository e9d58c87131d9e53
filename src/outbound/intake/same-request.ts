import { canonicalJson, parseJson } from '../../lib/json.ts';
import { baseHash, requestHash } from '../../mirror/outbox/ended-entries.ts';
import type { EndedEntry } from '../../mirror/outbox/ended-entries.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import type { ValidEntry } from './validate-entry.ts';

/**
 * Whether a stored entry is a repetition of this request.
 *
 * If the author gave no base, bases are not compared: they come from the mirror, which may have changed in between.
 */
export function isSameRequest(
  { kind, operation, recordId, payload, base }: ValidEntry,
  stored: Pick<Entry, 'kind' | 'operation' | 'recordId' | 'payload' | 'base'>,
): boolean {
  if (kind.name !== stored.kind || operation !== stored.operation) return false;
  if (operation === 'update' && recordId !== stored.recordId) return false; // A create has its record's id later.
  return isSameJson(payload, stored.payload) && (base === null || isSameJson(base, stored.base));
}

/** The same for an entry that ended so long ago that only the hashes of its request are kept. */
export function isSameAsEnded({ kind, ...asked }: ValidEntry, ended: EndedEntry): boolean {
  if (requestHash({ kind: kind.name, ...asked }) !== ended.requestHash) return false;
  return asked.base === null || baseHash(asked.base) === ended.baseHash;
}

function isSameJson(asked: string, stored: string | null): boolean {
  if (stored === null || asked === stored) return asked === stored;
  try {
    return canonicalJson(parseJson(asked)) === canonicalJson(parseJson(stored));
  } catch (error) {
    // An application may have stored any text by SQL; text that is not JSON differs.
    if (error instanceof SyntaxError || error instanceof RangeError) return false;
    throw error;
  }
}
