import { isArray, isObject } from '../../lib/json/json.ts';
import type { Json } from '../../lib/json/json.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import { isSuppressed } from '../../mirror/records/erasure-store.ts';
import type { Transaction } from '../../db/session/session.ts';

type OfRecord = Pick<Entry, 'kind' | 'recordId'>;

/** The part of an answer to a write that may be stored: nothing of a record that `forget --suppress` keeps out of the mirror. */
export async function startToKeep(
  tx: Transaction,
  { kind, recordId }: OfRecord,
  start: string,
): Promise<string> {
  const isKeptOut = start !== '' && (await isSuppressed(tx, kind, recordId));
  return isKeptOut ? '(not shown: forget --suppress)' : start;
}

/** The details of a verdict that may be stored: of a record that is kept out, the names of fields without their values. */
export async function resultToKeep(
  tx: Transaction,
  { kind, recordId }: OfRecord,
  result: Json,
): Promise<Json> {
  return (await isSuppressed(tx, kind, recordId)) ? withoutValues(result) : result;
}

/** Members of a result that hold values of the service. */
const VALUES: ReadonlySet<string> = new Set(['base', 'remote', 'wanted', 'answer']);

function withoutValues(result: Json): Json {
  if (isArray(result)) return result.map(withoutValues);
  if (!isObject(result)) return result;
  const members = Object.entries(result).filter(([name]) => !VALUES.has(name));
  return Object.fromEntries(members.map(([name, value]) => [name, withoutValues(value)]));
}
