import { createHash, randomUUID } from 'node:crypto';
import { openList } from './envelope.ts';
import type { ListBody } from './envelope.ts';
import { SourceError } from './errors.ts';
import { parseBody } from './parse-body.ts';
import type { Received } from './read-answer.ts';
import { recordStart, valueEnd } from './record-bytes.ts';

/** What tells whether a page shows other records than before. */
export interface PageDigest {
  /** SHA-256, in hex, of a salt and the text of the array of records. */
  readonly digest: string;
  /** Length of that text. */
  readonly bytes: number;
}

/** What a page showed when it was landed last. */
export interface KnownPage extends PageDigest {
  /** Ids of the records in their order, one for every row on the page. */
  readonly keys: readonly string[];
}

interface Part {
  readonly start: number;
  readonly end: number;
}

type ListText = Pick<Received, 'bytes' | 'where'>;

/** Stands in for the records. No service can know it, so what is found in "data" stands where the records stood. */
const STAND_IN = randomUUID();
const STAND_IN_TEXT = Buffer.from(JSON.stringify([STAND_IN]));

/**
 * Opens a list without reading its records, if their text is that of the known page.
 *
 * Equal bytes are that very array, whole, and so end where it ended; what stands around them is read and checked as ever.
 *
 * @returns Null where they differ, or where anything else is wrong: the body must be read whole then.
 */
export function openKnown(
  answer: ListText,
  salt: string,
  known: PageDigest,
): Omit<ListBody, 'records'> | null {
  const start = recordStart(answer.bytes);
  if (start === null) return null;
  const part = { start, end: start + known.bytes };
  return digestOf(answer, salt, part) === known.digest ? openAround(answer, part) : null;
}

/** Makes the digest of a list that was read whole; null where it cannot be told for certain which bytes are its records. */
export function digestPage(answer: ListText, salt: string): PageDigest | null {
  const start = recordStart(answer.bytes);
  const end = start === null ? null : valueEnd(answer.bytes, start);
  if (start === null || end === null || !openAround(answer, { start, end })) return null;
  return { digest: digestOf(answer, salt, { start, end }), bytes: end - start };
}

function digestOf({ bytes }: ListText, salt: string, { start, end }: Part): string {
  return createHash('sha256').update(salt).update(bytes.subarray(start, end)).digest('hex');
}

/** Opens a list whose records are replaced; null if it is none, or if other bytes than these are its records. */
function openAround({ bytes, where }: ListText, { start, end }: Part): ListBody | null {
  const around = Buffer.concat([bytes.subarray(0, start), STAND_IN_TEXT, bytes.subarray(end)]);
  try {
    const list = openList(parseBody(around, where), where);
    return list.records.length === 1 && list.records[0] === STAND_IN ? list : null;
  } catch (error) {
    if (error instanceof SourceError) return null; // Whoever reads it whole finds the same, and can quote it.
    throw error;
  }
}
