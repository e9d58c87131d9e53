import type { Kind } from '../src/catalog/kind.ts';
import { compactJson, type Json, type JsonObject } from '../src/lib/json/json.ts';

/** A response as data, so that a fault can change it before it is sent. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** How much arrives: the whole answer, its first bytes before the socket closes, or nothing. */
  readonly arrives: 'whole' | 'not at all' | { readonly bytes: number };
}

export const jsonAnswer = (status: number, value: Json): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: compactJson(value),
  arrives: 'whole',
});

/** The body of an error is not documented (§7): this is what the envelopes of §2.1 suggest. */
export const failure = (status: number, message: string): Answer =>
  jsonAnswer(status, { success: false, message });

/** `documented`: as the service's documentation reads. `wild`: as the live service was seen to answer. */
export type Envelopes = 'documented' | 'wild';

/** Lists without `meta` come whole: §4.7, §4.8, §4.10; in the wild the categories too. */
const WHOLE_LISTS: Readonly<Record<Envelopes, ReadonlySet<string>>> = {
  documented: new Set(['punches', 'vehicle_brands', 'bookings']),
  wild: new Set(['punches', 'vehicle_brands', 'bookings', 'categories']),
};

/** Kinds whose single record comes as an array of one, in the wild. */
const IN_ARRAY = new Set(['categories', 'departments', 'purchase_products', 'sales_products']);

/** Kinds whose lists send ids as texts, in the wild. */
const TEXT_IDS = new Set(['transactions']);

const spelled = (kind: Kind, envelopes: Envelopes, record: JsonObject): JsonObject =>
  envelopes === 'wild' && TEXT_IDS.has(kind.name)
    ? { ...record, id: compactJson(record['id'] ?? null) }
    : record;

/** Kinds whose responses have no `success` member (§2.1). */
const WITHOUT_SUCCESS = new Set(['products']);

export const isWholeList = (kind: Kind, envelopes: Envelopes): boolean =>
  WHOLE_LISTS[envelopes].has(kind.name);

/** Wraps a page of a list (§2.1), given the number of the page, its size, and all rows; in the wild these are texts. */
export function listEnvelope(
  kind: Kind,
  envelopes: Envelopes,
  records: readonly JsonObject[],
  { number, size, total }: Readonly<Record<'number' | 'size' | 'total', number>>,
): Json {
  const data = records.map((record) => spelled(kind, envelopes, record));
  if (isWholeList(kind, envelopes)) return { data, ...successOf(kind) };
  const pages = Math.max(1, Math.ceil(total / size));
  const numbers = { current_page: number, last_page: pages, per_page: size, total };
  const texts = Object.entries(numbers).map(([name, value]) => [name, String(value)]);
  const meta = envelopes === 'documented' ? numbers : (Object.fromEntries(texts) as JsonObject);
  return { data, meta, ...successOf(kind) };
}

/** Wraps one record: bare as §4 reads, in `data` or in an array of one in the wild. */
export function recordEnvelope(kind: Kind, record: JsonObject, envelopes: Envelopes): Json {
  if (envelopes === 'documented') return record;
  return { data: IN_ARRAY.has(kind.name) ? [record] : record, ...successOf(kind) };
}

const successOf = (kind: Kind): JsonObject => (WITHOUT_SUCCESS.has(kind.name) ? {} : { success: true });
