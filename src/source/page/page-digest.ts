import { createHash, randomUUID, hash } from 'node:crypto';
import type { TextList } from '../../lib/text-list.ts';
import { openList, parseBody } from '../answer/envelope.ts';
import type { ListBody } from '../answer/envelope.ts';
import { SourceError } from '../http/errors.ts';
import type { Received } from '../http/http.ts';
import { arrayStart, elementsOf } from '../../lib/json-bytes.ts';
import type { Part } from '../../lib/json-bytes.ts';

/** A digest that shows whether a page has changed. */
export interface PageDigest {
  /** SHA-256, in hex, of a digest scope and the text of the array of records. */
  readonly digest: string;
  /** Length of that text. */
  readonly bytes: number;
  /** Digests of the records in their order, as `digestsText` writes them; absent where no record was read. */
  readonly records?: string;
}

/** A page as last landed. */
export interface KnownPage extends PageDigest {
  /** Ids of the records in their order, one for every row on the page. */
  readonly keys: TextList;
}

type ListText = Pick<Received, 'bytes' | 'where'>;

/** The name of the member that holds the records. */
const DATA = Buffer.from('"data"');
/** A placeholder for the records. No service can guess it, so its place in "data" is the place of the records. */
const STAND_IN = randomUUID();
const STAND_IN_OPEN = Buffer.from(`[${JSON.stringify(STAND_IN)}`);
const [COMMA, CLOSE] = [Buffer.from(','), Buffer.from(']')];

/**
 * Opens a list without parsing its records, if their bytes are those of the known page.
 *
 * Equal bytes are the same array, complete, and end at the same place. The text around them is parsed and checked as
 * usual.
 *
 * @returns Null if they differ, or if anything else is wrong: the body must then be parsed in full.
 */
export function openKnown(
  answer: ListText,
  digestScope: string,
  known: PageDigest,
): Omit<ListBody, 'records'> | null {
  const start = arrayStart(answer.bytes, DATA);
  if (start === null) return null;
  const part = { start, end: start + known.bytes };
  return digestOf(answer, digestScope, part) === known.digest ? openAround(answer, part) : null;
}

/** The array of records, cut up into their texts, with the digest of each. */
interface CutRecords extends Part {
  readonly parts: readonly Part[];
  readonly digests: readonly string[];
}

/** Cuts up the records of a list; null if they cannot be located. In text that is no JSON the result means nothing. */
export function cutRecords({ bytes }: ListText): CutRecords | null {
  const start = arrayStart(bytes, DATA);
  const elements = start === null ? null : elementsOf(bytes, start);
  if (start === null || elements === null) return null;
  const digests = elements.parts.map((part) => recordDigest(bytes.subarray(part.start, part.end)));
  return { start, ...elements, digests };
}

/**
 * Computes the digest of a list that was parsed in full; null if the bytes of its records cannot be located for
 * certain.
 */
export function digestPage(answer: ListText, digestScope: string): PageDigest | null {
  const cut = cutRecords(answer);
  return cut === null || openAround(answer, cut) === null ? null : digestCut(answer, digestScope, cut);
}

/** The digest of a list whose records have been cut up. */
export function digestCut(answer: ListText, digestScope: string, cut: CutRecords): PageDigest {
  return {
    digest: digestOf(answer, digestScope, cut),
    bytes: cut.end - cut.start,
    records: digestsText(cut.digests, digestScope),
  };
}

function digestOf({ bytes }: ListText, digestScope: string, { start, end }: Part): string {
  return createHash('sha256').update(digestScope).update(bytes.subarray(start, end)).digest('hex');
}

/**
 * Opens a list with some of its records only, in their order.
 *
 * @param records The bytes in the place of the records.
 * @param some The records to parse.
 * @returns Null if it is no list, or if other bytes than these are its records.
 */
export function openAround(
  { bytes, where }: ListText,
  { start, end }: Part,
  some: readonly Part[] = [],
): ListBody | null {
  const texts = some.flatMap((part) => [COMMA, bytes.subarray(part.start, part.end)]);
  const around = [bytes.subarray(0, start), STAND_IN_OPEN, ...texts, CLOSE, bytes.subarray(end)];
  try {
    const list = openList(parseBody(Buffer.concat(around), where), where);
    const [standIn, ...records] = list.records;
    return standIn === STAND_IN && records.length === some.length ? { ...list, records } : null;
  } catch (error) {
    if (error instanceof SourceError) return null; // A full parse finds the same fault and can quote it.
    throw error;
  }
}

/** The stored digests of a page's records. */
export interface RecordsKnown {
  readonly digestScope: string;
  /** Their ids, in their order. */
  readonly keys: TextList;
  /** Their digests in the same order, as `digestsText` writes them. */
  readonly digests: string;
}

const LENGTH = 16; // In base64: 96 bits of SHA-256.

/** The digests of a page's records as one text, after the digest of their scope. */
function digestsText(digests: readonly string[], digestScope: string): string {
  return recordDigest(Buffer.from(digestScope)) + digests.join('');
}

/**
 * Finds the id of every record whose text is known, in any position; undefined for the others.
 *
 * @returns Null if the known digests have another scope, or if their number differs from that of the ids.
 */
export function knownIds(
  shown: readonly string[],
  { digestScope, keys, digests }: RecordsKnown,
): readonly (string | undefined)[] | null {
  const isWhole = digests.length === LENGTH * (keys.length + 1);
  if (!isWhole || !digests.startsWith(digestsText([], digestScope))) return null;
  const at = (index: number): string => digests.slice(LENGTH * (index + 1), LENGTH * (index + 2));
  const ids = new Map(Array.from(keys, (key, index) => [at(index), key]));
  return shown.map((digest) => ids.get(digest));
}

function recordDigest(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64').slice(0, LENGTH);
}
