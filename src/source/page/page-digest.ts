import { createHash, randomUUID } from 'node:crypto';
import type { TextList } from '../../lib/text-list.ts';
import { openList } from '../answer/envelope.ts';
import type { ListBody } from '../answer/envelope.ts';
import { SourceError } from '../http/errors.ts';
import { parseBody } from '../answer/parse-body.ts';
import type { Received } from '../answer/read-answer.ts';
import { elementsOf, recordStart } from './record-bytes.ts';
import type { Part } from './record-bytes.ts';
import { digestsOf, digestsText } from './record-digests.ts';

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

export type ListText = Pick<Received, 'bytes' | 'where'>;

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
  const start = recordStart(answer.bytes);
  if (start === null) return null;
  const part = { start, end: start + known.bytes };
  return digestOf(answer, digestScope, part) === known.digest ? openAround(answer, part) : null;
}

/**
 * Computes the digest of a list that was parsed in full; null if the bytes of its records cannot be located for
 * certain.
 */
export function digestPage(answer: ListText, digestScope: string): PageDigest | null {
  const start = recordStart(answer.bytes);
  const elements = start === null ? null : elementsOf(answer.bytes, start);
  if (start === null || elements === null) return null;
  const part = { start, end: elements.end };
  if (openAround(answer, part) === null) return null;
  const records = digestsText(digestsOf(answer.bytes, elements.parts), digestScope);
  return { digest: digestOf(answer, digestScope, part), bytes: part.end - start, records };
}

export function digestOf({ bytes }: ListText, digestScope: string, { start, end }: Part): string {
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
