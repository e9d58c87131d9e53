import { NO_DAY } from '../../diff/decode-record.ts';
import { compactJson, isObject, tryParseJson, type JsonObject } from '../../lib/json/json.ts';

/** The fields that identify a record to people, in this order. */
const NAMES = ['code', 'nom', 'name', 'name_fr', 'label', 'title', 'product_name', 'pickup_date', 'date'];
const NAMES_SHOWN = 2;

/** A few identifying values of a record, from its JSON text. */
export function recordName(text: string | null): string {
  const record = parseObjectText(text);
  const found = NAMES.map((name) => record[name] ?? '').filter((value) => value !== '' && !NO_DAY.has(value));
  const shown = found.slice(0, NAMES_SHOWN);
  return shown.map((value) => (typeof value === 'string' ? value : compactJson(value))).join(' · ');
}

/** The members of a JSON text; none if it is not an object. */
export function parseObjectText(text: string | null): JsonObject {
  const value = text === null ? undefined : tryParseJson(text);
  return isObject(value) ? value : {};
}
