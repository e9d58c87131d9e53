import type { Kind } from '../catalog/kind.ts';
import type { JsonObject } from '../lib/json.ts';
import { failure, jsonAnswer } from './answer.ts';
import type { Answer } from './answer.ts';
import { readObject } from './read-object.ts';
import { comesWhole, listEnvelope, recordEnvelope } from './envelopes.ts';
import type { Envelopes } from './envelopes.ts';
import type { World } from './world.ts';
import { writtenFields } from './written-fields.ts';

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
const FIXED_PER_PAGE = 500; // §8: of lists for which no parameters are listed.

/** The service itself, without network: a request in, an answer out, the world changed by writes. */
export function createService(world: World, envelopes: Envelopes): Serve {
  const list: Serve = (request) => {
    const { kind, page } = request;
    const total = world.count(kind.name);
    const size = comesWhole(kind, envelopes) ? Math.max(1, total) : pageSize(request);
    const number = comesWhole(kind, envelopes) ? 1 : page;
    const records = world.slice(kind.name, (number - 1) * size, number * size).flatMap((id) => {
      const record = world.get(kind.name, id);
      return record ? [record] : [];
    });
    return jsonAnswer(200, listEnvelope(kind, { records, number, size, total }, envelopes));
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

/** `per_page` is honoured up to 100 where it is a documented parameter, and ignored elsewhere (§8). */
function pageSize({ kind, perPage, perPageAtMost }: ServiceRequest): number {
  const size =
    kind.list?.paging === 'documented' ? Math.min(perPage ?? DEFAULT_PER_PAGE, 100) : FIXED_PER_PAGE;
  return Math.min(size, perPageAtMost);
}

const BAD_BODY = failure(400, 'The body is not a JSON object.');
