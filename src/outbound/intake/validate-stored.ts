import type { Kind } from '../../catalog/kind.ts';
import { parseJson } from '../../lib/json.ts';
import type { Json } from '../../lib/json.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import { validateEntry } from './validate-entry.ts';
import type { Validation } from './validate-entry.ts';

/** The columns of an outbox row that an application may have written by SQL. */
export type StoredDraft = Pick<Entry, 'operation' | 'kind' | 'recordId' | 'payload' | 'base'>;

/** Checks a row of the outbox as `validateEntry` checks a request: an application may have inserted it by SQL. */
export function validateStored(kinds: readonly Kind[], row: StoredDraft): Validation {
  const { operation, kind, recordId } = row;
  const payload = jsonOf('payload', row.payload);
  const base = row.base === null ? { value: null } : jsonOf('base', row.base);
  if ('fault' in payload || 'fault' in base)
    return { faults: [payload, base].flatMap((part) => ('fault' in part ? [part.fault] : [])) };
  return validateEntry(kinds, { operation, kind, id: recordId, data: payload.value, base: base.value });
}

function jsonOf(name: string, text: string): { readonly value: Json } | { readonly fault: string } {
  try {
    return { value: parseJson(text) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError)
      return { fault: `${name}: expected the text of a JSON object` };
    throw error;
  }
}
