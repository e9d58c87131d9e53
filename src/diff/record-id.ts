import { isNumber, isObject } from '../lib/json.ts';
import type { Json } from '../lib/json.ts';

export type IdFault = 'not_a_record' | 'no_id' | 'id_not_an_integer' | 'id_too_large';
type RecordId = { readonly id: string } | { readonly fault: IdFault; readonly token: string | null };

const WHOLE = /^[1-9]\d*$/;
const LARGEST = 2n ** 63n - 1n;

/**
 * Reads the id that a record is known by: a whole number from 1 to 2^63−1, as number or as text.
 *
 * Nothing is normalized: `07`, `7.0` and `1e2` might be other records than 7 and 100, so they are no ids.
 */
export function recordId(record: Json): RecordId {
  if (!isObject(record)) return { fault: 'not_a_record', token: null };
  const value = Object.hasOwn(record, 'id') ? record['id'] : null;
  if (value === undefined || value === null || value === '') return { fault: 'no_id', token: null };
  const token = isNumber(value) || typeof value === 'string' ? String(value) : '';
  if (!WHOLE.test(token)) return { fault: 'id_not_an_integer', token };
  return fitsInt64(token) ? { id: token } : { fault: 'id_too_large', token };
}

function fitsInt64(token: string): boolean {
  return token.length < 19 || (token.length === 19 && BigInt(token) <= LARGEST);
}
