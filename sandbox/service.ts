import { LosslessNumber } from 'lossless-json';
import type { Field, FieldType, Kind } from '../src/catalog/kind.ts';
import { padToScale, canonicalNumber } from '../src/lib/json/decimal.ts';
import { isNumber, isObject, tryParseJson, type Json, type JsonObject } from '../src/lib/json/json.ts';
import {
  failure,
  jsonAnswer,
  isWholeList,
  listEnvelope,
  recordEnvelope,
  type Answer,
  type Envelopes,
} from './answer.ts';
import type { World } from './world.ts';

export type ServiceOperation = 'list' | 'retrieve' | 'create' | 'update';

/** A request that has found its endpoint. */
export interface ServiceRequest {
  readonly method: string;
  readonly kind: Kind;
  readonly operation: ServiceOperation;
  /** The id in the path; empty if the path has none. */
  readonly id: string;
  readonly page: number;
  /** As requested; null if absent or unusable. */
  readonly perPage: number | null;
  readonly perPageAtMost: number;
  readonly body: string;
}

export type Serve = (request: ServiceRequest) => Answer;

const DEFAULT_PER_PAGE = 25; // §8: the examples show 25, though the text says 20.
/** Lists beyond the documentation that honour `per_page`. */
const SHORT_PAGES: Readonly<Record<string, number>> = { contacts: 20, tasks: 20 };
const FIXED_PER_PAGE = 500; // §8: of lists for which no parameters are listed.

/** Handles a request in memory; writes change the world. */
export function createService(world: World, envelopes: Envelopes): Serve {
  const list: Serve = (request) => {
    const { kind, page, perPage, perPageAtMost } = request;
    const total = world.count(kind.name);
    // `per_page` is honoured up to 100 where it is a documented parameter, and ignored elsewhere (§8).
    const usual = kind.list?.paging === 'documented' ? DEFAULT_PER_PAGE : SHORT_PAGES[kind.name];
    const wanted = usual === undefined ? FIXED_PER_PAGE : Math.min(perPage ?? usual, 100);
    const isWhole = isWholeList(kind, envelopes);
    const size = isWhole ? Math.max(1, total) : Math.min(wanted, perPageAtMost);
    const number = isWhole ? 1 : page;
    const records = world.slice(kind.name, (number - 1) * size, number * size).flatMap((id) => {
      const record = world.get(kind.name, id);
      return record ? [record] : [];
    });
    return jsonAnswer(200, listEnvelope(kind, envelopes, records, { number, size, total }));
  };

  const one = (kind: Kind, record: JsonObject | undefined): Answer =>
    record ? jsonAnswer(200, recordEnvelope(kind, record, envelopes)) : failure(404, 'Record not found.');

  const create: Serve = ({ kind, body }) => {
    const sent = readObject(body);
    return sent ? one(kind, world.insert(kind.name, writtenFields(kind, sent))) : BAD_BODY;
  };
  const update: Serve = ({ kind, id, body }) => {
    const sent = readObject(body);
    if (!sent) return BAD_BODY;
    const exists = world.get(kind.name, Number(id)) !== undefined;
    return one(kind, exists ? world.update(kind.name, Number(id), writtenFields(kind, sent)) : undefined);
  };
  const retrieve: Serve = ({ kind, id }) => one(kind, world.get(kind.name, Number(id)));

  const operations: Readonly<Record<ServiceOperation, Serve>> = { list, retrieve, create, update };
  return (request) => operations[request.operation](request);
}

const BAD_BODY = failure(400, 'The body is not a JSON object.');

/** Parses a body as a JSON object; null if it is not one. */
export function readObject(body: string): JsonObject | null {
  const value = tryParseJson(body);
  return isObject(value) ? value : null;
}

const MINUTE_TIME = /^\d\d:\d\d$/;
const WHOLE_NUMBER = /^-?\d{1,15}$/;

/**
 * Turns the body of a write into fields as they are stored and read: write names into read names (§2.2), `HH:MM`
 * into `HH:MM:SS` (§4.7), numbers sent as text into numbers (§2.5). A field that the kind does not know is kept as sent.
 */
function writtenFields(kind: Kind, body: JsonObject): JsonObject {
  const fields = [...kind.fields, ...kind.hints];
  const stored = Object.entries(body).flatMap(([name, value]) => {
    const field = fields.find((candidate) => (candidate.write?.name ?? candidate.name) === name);
    if (field) return [[field.name, storedValue(kind, field, value)] as const];
    const isReadName = fields.some((candidate) => candidate.name === name);
    return isReadName ? [] : [[name, value] as const]; // A write by the read name is ignored.
  });
  return Object.fromEntries(stored.filter(([name]) => name !== 'id'));
}

/** How the service stores a value; a text that does not fit the field is stored as sent. */
const STORED: Partial<Record<FieldType, (text: string, field: Field) => Json>> = {
  time: (text) => (MINUTE_TIME.test(text) ? `${text}:00` : text),
  integer: (text) => (WHOLE_NUMBER.test(text) ? Number(text) : text),
  flag: (text) => (WHOLE_NUMBER.test(text) ? Number(text) : text),
  decimal: (text, { scale = 0 }) => {
    const shortest = canonicalNumber(text);
    return shortest === null ? text : padToScale(shortest, scale);
  },
};

function storedValue(kind: Kind, field: Field, value: Json): Json {
  const store = STORED[field.type];
  if (!store || (typeof value !== 'string' && !isNumber(value))) return value;
  const stored = store(String(value), field);
  const isNumberHere = kind.name === 'providers' && field.name === 'credit'; // §2.4: a JSON number, alone of all money.
  return isNumberHere && typeof stored === 'string' && stored !== '' ? new LosslessNumber(stored) : stored;
}
