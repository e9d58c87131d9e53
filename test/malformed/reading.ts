import { isUtf8 } from 'node:buffer';
import type { HttpAnswer } from '../../src/source/http/http.ts';
import { canonical, depthOf, readJson, type Node } from './json-reader.ts';

/** What an answer says, and whether it may be believed: by rules of our own, without the code under test. */
export type Reading =
  | { readonly is: 'refused'; readonly why: Refusal; readonly mayPass: boolean }
  | { readonly is: 'list'; readonly rows: readonly Node[] }
  | { readonly is: 'record'; readonly record: Node }
  | { readonly is: 'gone' }
  /** Nested deeper than we look. */
  | { readonly is: 'open' };

export type Refusal =
  'status' | 'encoding' | 'cache' | 'no text' | 'no JSON' | 'says it failed' | 'no records' | 'meta';

/** Only a status may be the last word: nonsense is asked for again. */
const refused = (why: Refusal, mayPass = why !== 'status'): Reading => ({ is: 'refused', why, mayPass });

const MAY_PASS = new Set([408, 425, 429]);
const CACHES = ['x-cache', 'x-cache-status', 'cf-cache-status', 'x-proxy-cache'];

export function readAnswer(answer: HttpAnswer, isList: boolean): Reading {
  const body = readBody(answer.bytes);
  if (!isList && (answer.status === 404 || answer.status === 410)) return readDenial(answer, body);
  const refusal = refusalOf(answer);
  if (refusal !== null) return refusal;
  if (body === 'deep') return { is: 'open' };
  if (typeof body === 'string') return refused(body === 'no text' ? 'no text' : 'no JSON');
  return isList ? readList(body) : readRecord(body);
}

type Body = Node | 'no text' | 'not JSON' | 'deep';

/** A record that is not found: the service itself must show it. */
function readDenial(answer: HttpAnswer, body: Body): Reading {
  if (isCached(answer)) return refused('cache', true);
  if (body === 'deep') return { is: 'gone' }; // Deeper than we look, and it may well be an object.
  return typeof body === 'object' && body.is === 'object' ? { is: 'gone' } : refused('status');
}

function refusalOf(answer: HttpAnswer): Reading | null {
  const { status, headers } = answer;
  if (status < 200 || status > 299) return refused('status', status >= 500 || MAY_PASS.has(status));
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') return refused('encoding');
  return isCached(answer) ? refused('cache', true) : null;
}

function isCached({ headers }: HttpAnswer): boolean {
  return CACHES.some((name) => /\bhit\b/i.test(String(headers[name]))) || Number(headers['age'] ?? 0) > 0;
}

function readBody(bytes: Uint8Array): Body {
  if (!isUtf8(bytes)) return 'no text';
  return readJson(
    Buffer.from(bytes)
      .toString()
      .replace(/^\ufeff/, ''),
  );
}

const member = (node: Node | undefined, name: string): Node | undefined =>
  node?.is === 'object' ? node.members.get(name) : undefined;

const isFailure = (body: Node): boolean => {
  const success = member(body, 'success');
  return success?.is === 'word' && success.text === 'false';
};

function readList(body: Node): Reading {
  const bare = rowsIn(body);
  if (bare !== null) return { is: 'list', rows: bare };
  if (isFailure(body)) return refused('says it failed');
  const data = member(body, 'data');
  const rows = rowsIn(data) ?? (data !== undefined && member(data, 'id') !== undefined ? [data] : null);
  if (rows === null) return refused('no records');
  const meta = member(body, 'meta');
  const isMeta =
    meta === undefined || meta.is === 'object' || canonical(meta) === 'null' || canonical(meta) === '[]';
  return isMeta ? { is: 'list', rows } : refused('meta');
}

/** The items of an array, or of an object that PHP has written for one. */
export function itemsIn(node: Node | undefined): readonly Node[] | null {
  if (node?.is === 'array') return node.items;
  if (node?.is !== 'object' || node.members.size === 0) return null;
  const isList = [...node.members].every(
    ([name, { is }]) => /^\d+$/.test(name) && /^(?:object|array)$/.test(is),
  );
  if (!isList) return null;
  const places = [...node.members].map(([name, item]) => ({ place: Number(name), item }));
  return places.sort((a, b) => a.place - b.place).map(({ item }) => item);
}

/** The records of a list, or of the lists within it. */
function rowsIn(node: Node | undefined): readonly Node[] | null {
  const items = itemsIn(node);
  const lists = items?.map(itemsIn) ?? [];
  const inner = lists.flatMap((list) => list ?? []);
  return inner.length > 0 && !lists.includes(null) ? inner : items;
}

function readRecord(body: Node): Reading {
  if (isFailure(body)) return refused('says it failed');
  const data = member(body, 'id') === undefined ? (member(body, 'data') ?? body) : body;
  if (data.is === 'array' && data.items.length === 0) return { is: 'gone' };
  const rows = rowsIn(data) ?? [];
  const record = rows.length === 1 ? (rows[0] ?? data) : data;
  return record.is === 'object' ? { is: 'record', record } : refused('no records');
}

export type RowCode = 'not_a_record' | 'no_id' | 'id_not_an_integer' | 'id_too_large' | 'too_deep';

/** The id of a row, or why it cannot become one. */
export function rowIdentity(row: Node): { readonly id: string } | { readonly code: RowCode } {
  if (depthOf(row) > 64) return { code: 'too_deep' };
  if (row.is !== 'object') return { code: 'not_a_record' };
  const id = row.members.get('id');
  return isNone(id) ? { code: 'no_id' } : identityOf(id);
}

const isNone = (id: Node | undefined): id is undefined =>
  id === undefined || canonical(id) === 'null' || canonical(id) === '""';

function identityOf(id: Node): { readonly id: string } | { readonly code: RowCode } {
  const token = id.is === 'number' || id.is === 'text' ? id.text : '';
  if (!/^[1-9]\d*$/.test(token)) return { code: 'id_not_an_integer' };
  return BigInt(token) >= 2n ** 63n ? { code: 'id_too_large' } : { id: token };
}

/** Whether two lists hold the same records in the same order. */
export function isSameRows(a: readonly Node[], b: readonly Node[]): boolean {
  return a.length === b.length && a.map(canonical).join() === b.map(canonical).join();
}
