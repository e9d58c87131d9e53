import { createHash, randomUUID } from 'node:crypto';
import type { TextList } from '../../lib/text/text-list.ts';
import { openList, parseBody } from '../answer/envelope.ts';
import type { ListBody } from '../answer/envelope.ts';
import { SourceError } from '../http/errors.ts';
import type { Received } from '../http/http.ts';
import { arrayStart, valueEnd } from '../../lib/json/json-bytes.ts';

/** A digest that shows whether a page has changed. */
export interface PageDigest {
  /** SHA-256, in hex, of a digest scope and the text of the array of records. */
  readonly digest: string;
  /** Length of that text. */
  readonly bytes: number;
}

/** A page as last landed. */
export interface KnownPage extends PageDigest {
  /** Ids of the records in their order, one for every row on the page. */
  readonly keys: TextList;
}

type ListText = Pick<Received, 'bytes' | 'where'>;

/** The place of the records in a body. */
interface Part {
  readonly start: number;
  readonly end: number;
}

/** The name of the member that holds the records. */
const DATA = Buffer.from('"data"');
/** A placeholder for the records. No service can guess it, so its place in "data" is the place of the records. */
const STAND_IN = randomUUID();
const STAND_IN_ARRAY = Buffer.from(JSON.stringify([STAND_IN]));

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

/**
 * Computes the digest of a list that was parsed in full; null if the bytes of its records cannot be located for
 * certain.
 */
export function digestPage(answer: ListText, digestScope: string): PageDigest | null {
  const start = arrayStart(answer.bytes, DATA);
  const end = start === null ? null : valueEnd(answer.bytes, start);
  if (start === null || end === null || openAround(answer, { start, end }) === null) return null;
  return { digest: digestOf(answer, digestScope, { start, end }), bytes: end - start };
}

function digestOf({ bytes }: ListText, digestScope: string, { start, end }: Part): string {
  return createHash('sha256').update(digestScope).update(bytes.subarray(start, end)).digest('hex');
}

/** Opens a list without its records; null if it is no list, or if other bytes than these are its records. */
function openAround({ bytes, where }: ListText, { start, end }: Part): Omit<ListBody, 'records'> | null {
  const around = [bytes.subarray(0, start), STAND_IN_ARRAY, bytes.subarray(end)];
  try {
    const { records, ...list } = openList(parseBody(Buffer.concat(around), where), where);
    return records.length === 1 && records[0] === STAND_IN ? list : null;
  } catch (error) {
    if (error instanceof SourceError) return null; // A full parse finds the same fault and can quote it.
    throw error;
  }
}
