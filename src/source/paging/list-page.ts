import { createHash, randomUUID } from 'node:crypto';
import { keepKnownFields, withoutExcluded } from '../../catalog/exclude.ts';
import type { Kind } from '../../catalog/kind.ts';
import { arrayStart, valueEnd } from '../../lib/json/json-bytes.ts';
import {
  MAX_DEPTH,
  compactJson,
  isNestedDeeper,
  isNumber,
  isObject,
  type Json,
} from '../../lib/json/json.ts';
import {
  isUnusualEnvelope,
  unwrapList,
  parseBody,
  readListBody,
  requireSuccess,
  tryParseBody,
  type Meta,
} from '../http/read-answer.ts';
import { SourceError } from '../http/errors.ts';
import type { ReceivedAnswer } from '../http/http.ts';

/** A list answer in the form that a sweep uses. */
export interface ListPage {
  /** One text per record that identifies it within the list: its id, as text in any spelling, or the whole record. */
  readonly keys: readonly string[];
  readonly meta: Meta | null;
  /** By `links`: whether a page follows; null where it does not say. */
  readonly hasNext: boolean | null;
  /** Whose token asked for it, by a digest. */
  readonly holder: string;
  /** How the records were wrapped. */
  readonly envelope: string;
  /** The text of the records is that of the known page of this number: it was not parsed. */
  readonly isUnchanged: boolean;
  /** Null without a hash scope, or if the bytes of the records cannot be located for certain. */
  readonly pageHash: PageHash | null;
  /**
   * The records in `data`, unchecked. Parsed at the first call if `isUnchanged`.
   * @throws {SourceError} too_deep, if a known page can no longer be parsed.
   */
  readonly read: () => readonly Json[];
  /** The texts of the records, in their order, where the page was landed before: most are as they were then. */
  readonly texts?: readonly string[] | undefined;
  /** The service's own 404, which is an empty page beyond the last row, and a fault anywhere else. */
  readonly missing?: SourceError | undefined;
}

/** The stored facts about a page before it is requested. Without a hash scope no hash is made, and no page is known. */
export interface KnownPageHint {
  readonly rulesDigest?: string | undefined;
  readonly known?: KnownPage | undefined;
}

/**
 * Creates the reader for a page that shows the same records as the known page: it is not parsed.
 * @throws {SourceError} If the response itself denies that it is a list.
 * @returns Null if it shows other records.
 */
export function unchangedPageReader({
  rulesDigest,
  known,
}: KnownPageHint): (answer: ReceivedAnswer) => ListPage | null {
  return (answer) => {
    requireSuccess(answer);
    if (rulesDigest === undefined || known === undefined) return null;
    const { digest, bytes } = known;
    // Equal bytes are the same array, complete, and end at the same place: only the text around them is parsed and checked.
    const start = arrayStart(answer.bytes, DATA);
    if (start === null || answer.bytes[start + bytes - 1] !== CLOSE_ARRAY) return null; // Nearly every changed page, before it is hashed.
    if (hashRecords(answer, rulesDigest, start, start + bytes) !== digest) return null;
    const list = parseAround(answer, start, start + bytes);
    return (
      list && {
        ...list,
        keys: known.keys,
        holder: answer.holder,
        isUnchanged: true,
        pageHash: { digest, bytes },
        read: parseLater(answer),
      }
    );
  };
}

/**
 * Lets a page after the first be missing: beyond its last row a service may answer 404 in JSON of its own. A proxy, or a
 * wrong base URL, answers with a web page.
 */
export function allowMissing<T>(
  read: (answer: ReceivedAnswer) => T,
): (answer: ReceivedAnswer) => T | ListPage {
  return (answer) => {
    try {
      return read(answer);
    } catch (error) {
      const isMissing = error instanceof SourceError && error.reason === 'not_found';
      if (!isMissing || answer.status !== 404) throw error;
      const body = tryParseBody(answer.bytes, answer.where);
      if (!isObject(body) || body['success'] === true || body['data'] !== undefined) throw error;
      return { ...EMPTY_PAGE, holder: answer.holder, missing: error };
    }
  };
}

const EMPTY_PAGE: Omit<ListPage, 'holder'> = {
  keys: [],
  meta: null,
  hasNext: null,
  envelope: '',
  isUnchanged: false,
  pageHash: null,
  read: () => [],
};

/** Makes the reader for a page of a list. @throws {SourceError} If the response is not a list. */
export function pageReader(hint: KnownPageHint): (answer: ReceivedAnswer) => ListPage {
  return (answer) => {
    requireSuccess(answer);
    const { records, ...list } = parsePage(answer.bytes, answer.where);
    const keys = records.map(recordKey);
    const boundaries: number[] = [];
    const isPlain = hint.rulesDigest !== undefined && !isUnusualEnvelope(list.envelope);
    const pageHash = isPlain ? hashPage(answer, hint.rulesDigest, boundaries) : null;
    const canSplit =
      hint.known !== undefined && pageHash !== null && boundaries.length === records.length + 1;
    const texts = canSplit ? textsBetween(answer.bytes, boundaries) : undefined;
    const { holder } = answer;
    return { ...list, keys, holder, isUnchanged: false, pageHash, read: () => records, texts };
  };
}

function textsBetween(bytes: Uint8Array, boundaries: readonly number[]): string[] {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return boundaries.slice(1).map((cut, at) => body.toString('utf8', (boundaries[at] ?? 0) + 1, cut));
}

function parsePage(bytes: Uint8Array, where: string) {
  const body = parseBody(bytes, where);
  const links = isObject(body) ? body['links'] : undefined;
  const next = isObject(links) ? links['next'] : undefined;
  const isLink = isObject(next) || (typeof next === 'string' && next !== '');
  const hasNext = next === null ? false : isLink || null;
  return { ...unwrapList(body, where), hasNext };
}

/** Identifies a record: its id, as text in any spelling, or the whole record. */
function recordKey(record: Json): string {
  const id = isObject(record) ? record['id'] : undefined;
  if (isNumber(id)) return String(id);
  if (typeof id === 'string' && id !== '') return id;
  return isNestedDeeper(record, MAX_DEPTH) ? 'nested too deep' : compactJson(record);
}

/** Parses the records at the first call, then frees the answer. */
function parseLater(answer: ReceivedAnswer): () => readonly Json[] {
  let state: { readonly answer: ReceivedAnswer } | { readonly records: readonly Json[] } = { answer };
  return () => {
    if ('answer' in state) {
      const { answer: unread } = state;
      state = { records: unread.withRedactedErrors(() => readListBody(unread).records) };
    }
    return state.records;
  };
}

/** A page without its kind's excluded fields; no later stage sees them. A value that is not a record ends up in an issue, which quotes it. */
export function withoutExcludedFields(kind: Kind, page: ListPage): ListPage {
  if (kind.excluded === undefined) return page;
  const read = (): readonly Json[] =>
    page
      .read()
      .map((record) =>
        isObject(record) && 'id' in record ? withoutExcluded(kind, record) : keepKnownFields(kind, record),
      );
  return { ...page, read, texts: undefined };
}

/** A hash that shows whether a page has changed. */
interface PageHash {
  /** SHA-256, in hex, of a hash scope and the text of the array of records. */
  readonly digest: string;
  readonly bytes: number;
}

/** A page as last landed. */
export interface KnownPage extends PageHash {
  /** Ids of the records in their order, one for every row on the page. */
  readonly keys: readonly string[];
}

/** The name of the member that holds the records. */
const DATA = Buffer.from('"data"');
const CLOSE_ARRAY = ']'.charCodeAt(0);
/** A placeholder for the records. No service can guess it, so its place in "data" is the place of the records. */
const PLACEHOLDER = randomUUID();
const PLACEHOLDER_ARRAY = Buffer.from(JSON.stringify([PLACEHOLDER]));

/**
 * Computes the hash of a list that was parsed in full; null if the bytes of its records cannot be located for certain.
 * @param boundaries Gets the positions of the bytes before, between and behind the records.
 */
function hashPage(answer: ReceivedAnswer, rulesDigest: string, boundaries: number[]): PageHash | null {
  const start = arrayStart(answer.bytes, DATA);
  if (start === null) return null;
  boundaries.push(start);
  const end = valueEnd(answer.bytes, start, boundaries);
  if (end === null || parseAround(answer, start, end) === null) return null;
  boundaries.push(end - 1);
  return { digest: hashRecords(answer, rulesDigest, start, end), bytes: end - start };
}

/** Another user's token may see other records: the same bytes do not mean the same. */
function hashRecords({ bytes, holder }: ReceivedAnswer, rulesDigest: string, start: number, end: number) {
  const hash = createHash('sha256').update([rulesDigest, holder].join(''));
  return hash.update(bytes.subarray(start, end)).digest('hex');
}

/** Opens a list without its records; null if it is not a list, or if other bytes are its records. */
function parseAround(received: ReceivedAnswer, start: number, end: number) {
  const around = [received.bytes.subarray(0, start), PLACEHOLDER_ARRAY, received.bytes.subarray(end)];
  try {
    const { records, ...list } = parsePage(Buffer.concat(around), received.where);
    return records.length === 1 && records[0] === PLACEHOLDER ? list : null;
  } catch (error) {
    if (error instanceof SourceError) return null; // A full parse finds the same fault and can quote it.
    throw error;
  }
}
