import { DEEPEST, compactJson, isDeeper, isNumber, isObject } from '../../lib/json.ts';
import type { Json } from '../../lib/json.ts';
import { packed } from '../../lib/text-list.ts';
import type { TextList } from '../../lib/text-list.ts';
import type { Meta } from '../answer/envelope.ts';
import { readList, refuseFault } from '../answer/read-answer.ts';
import type { Received } from '../http/http.ts';
import { cutRecords, digestCut, digestPage, knownIds, openAround, openKnown } from './page-digest.ts';
import type { KnownPage, PageDigest, RecordsKnown } from './page-digest.ts';

/** A list answer in the form that a sweep uses. */
export interface ListPage {
  /** One text per record that identifies it within the list: its id, as text in any spelling, or the whole record. */
  readonly keys: TextList;
  readonly meta: Meta | null;
  /** How the records were wrapped. */
  readonly envelope: string;
  /** The text of the records is that of the known page of this number: it was not parsed. */
  readonly isKnown: boolean;
  /** Which records are those of the known page of this number, byte by byte, and not parsed; null = all are, or none. */
  readonly partial: PartialPage | null;
  /** Null without a digest scope, or if the bytes of the records cannot be located for certain. */
  readonly digest: PageDigest | null;
  /**
   * The records in `data`, unchecked. Parsed at the first call if `isKnown`; `partial` names the parsed ones.
   *
   * @throws {SourceError} too_deep, if a known page can no longer be parsed.
   */
  readonly read: () => readonly Json[];
}

/**
 * A page that shows some records byte by byte as the known page of its number does: those were not parsed.
 *
 * No two of its records have the same key.
 */
export interface PartialPage {
  /** Ids of the records that the known page shows too. */
  readonly unchanged: TextList;
  /** The changed records, parsed. */
  readonly changed: readonly Json[];
}

/**
 * The stored facts about a page before it is requested. Without a digest scope no digest is made, and no page is
 * known.
 */
export interface KnownPageHint {
  readonly digestScope?: string | undefined;
  readonly known?: KnownPage | undefined;
  /** Reads the digests of the known page's records, once it turns out that the page shows others; null = there are none. */
  readonly digests?: (() => Promise<string | null>) | undefined;
}

/**
 * Creates the reader for a page that shows the same records as the known page: it is not parsed.
 *
 * @throws {SourceError} If the answer itself says that it is no list.
 * @returns Null if it shows other records.
 */
export function readKnown({ digestScope, known }: KnownPageHint): (answer: Received) => ListPage | null {
  return (answer) => {
    refuseFault(answer);
    if (digestScope === undefined || known === undefined) return null;
    const list = openKnown(answer, digestScope, known);
    if (list === null) return null;
    const { keys, digest, bytes } = known;
    return {
      ...{ keys, meta: list.meta, envelope: list.envelope, isKnown: true, partial: null },
      digest: { digest, bytes },
      read: parseLater(answer),
    };
  };
}

/**
 * Makes the reader for a page of a list.
 *
 * @param digests Those of the known page's records, where there are any: a record with one of them is not parsed.
 * @throws {SourceError} Where the answer is no list.
 */
export function readPage(
  { digestScope, known }: KnownPageHint,
  digests: string | null = null,
): (answer: Received) => ListPage {
  return (answer) => {
    if (digestScope === undefined) return { ...parsed(answer), digest: null };
    const hasDigests = known !== undefined && digests !== null;
    const page = hasDigests ? partlyParsed(answer, { digestScope, keys: known.keys, digests }) : null;
    return page ?? { ...parsed(answer), digest: digestPage(answer, digestScope) };
  };
}

/**
 * Reads a list without parsing the records whose text is known from the last landing.
 *
 * A known text is one JSON value, and all other text is parsed in its place: so the list is valid JSON as a whole if
 * the rest is.
 *
 * @returns Null if no record is known, or if anything else is wrong: the body must then be parsed in full. So must a
 * page that shows a record twice: which of them counts takes reading both.
 */
function partlyParsed(answer: Received, known: RecordsKnown): ListPage | null {
  refuseFault(answer);
  const cut = cutRecords(answer);
  const ids = cut && knownIds(cut.digests, known);
  if (cut === null || ids === null || ids.every((id) => id === undefined)) return null;
  const others = cut.parts.filter((_, index) => ids[index] === undefined);
  const list = openAround(answer, cut, others);
  if (list === null) return null;

  const { records: changed, meta, envelope } = list;
  const parsedOnes = changed.values();
  const keys = ids.map((id) => id ?? recordKey(parsedOnes.next().value ?? null));
  if (new Set(keys).size < keys.length) return null;
  return {
    ...{ keys: packed(keys), meta, envelope, isKnown: false },
    partial: { unchanged: packed(ids.filter((id) => id !== undefined)), changed },
    digest: digestCut(answer, known.digestScope, cut),
    read: parseLater(answer),
  };
}

function parsed(answer: Received): Omit<ListPage, 'digest'> {
  const { records, meta, envelope } = readList(answer);
  const keys = packed(records.map(recordKey));
  return { keys, meta, envelope, isKnown: false, partial: null, read: () => records };
}

/** Identifies a record: its id, as text in any spelling, or the whole record. */
function recordKey(record: Json): string {
  const id = isObject(record) ? record['id'] : undefined;
  if (isNumber(id)) return String(id);
  if (typeof id === 'string' && id !== '') return id;
  return isDeeper(record, DEEPEST) ? 'nested too deep' : compactJson(record);
}

/** Parses the records at the first call, then frees the answer. */
function parseLater(answer: Received): () => readonly Json[] {
  let held: { readonly answer: Received } | { readonly records: readonly Json[] } = { answer };
  return () => {
    if ('answer' in held) {
      const { answer: unread } = held;
      held = { records: unread.withRedactedErrors(() => readList(unread).records) };
    }
    return held.records;
  };
}
