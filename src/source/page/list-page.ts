import { DEEPEST, compactJson, isDeeper, isNumber, isObject } from '../../lib/json.ts';
import type { Json } from '../../lib/json.ts';
import { packed } from '../../lib/text-list.ts';
import type { TextList } from '../../lib/text-list.ts';
import type { Meta } from '../answer/envelope.ts';
import { digestPage, openKnown } from './page-digest.ts';
import type { KnownPage, PageDigest } from './page-digest.ts';
import { openPartly } from './partial-page.ts';
import { readList, refuseFault } from '../answer/read-answer.ts';
import type { Received } from '../answer/read-answer.ts';

/** A list answer in the form that a sweep uses. */
export interface ListPage {
  /** One text per record that identifies it within the list. */
  readonly keys: TextList;
  readonly meta: Meta | null;
  readonly envelope: string;
  readonly isKnown: boolean;
  /** Null where the page is known, or was parsed whole. */
  readonly partial: PartialPage | null;
  readonly digest: PageDigest | null;
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
    return digestScope === undefined || known === undefined ? null : recognized(answer, digestScope, known);
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
    refuseFault(answer);
    if (digestScope === undefined) return { ...parsed(answer), digest: null };
    const hasDigests = known !== undefined && digests !== null;
    const page = hasDigests ? partlyRead(answer, { digestScope, keys: known.keys, digests }) : null;
    return page ?? { ...parsed(answer), digest: digestPage(answer, digestScope) };
  };
}

function recognized(answer: Received, digestScope: string, known: KnownPage): ListPage | null {
  const list = openKnown(answer, digestScope, known);
  if (list === null) return null;
  return {
    keys: known.keys,
    meta: list.meta,
    envelope: list.envelope,
    isKnown: true,
    partial: null,
    digest: { digest: known.digest, bytes: known.bytes },
    read: once(() => answer.withRedactedErrors(() => readList(answer).records)),
  };
}

/** Also null if a record is shown twice: both must be parsed to know which one counts. */
function partlyRead(answer: Received, known: Parameters<typeof openPartly>[1]): ListPage | null {
  const list = openPartly(answer, known);
  if (list === null) return null;
  const keys = list.rows.map((row) => ('id' in row ? row.id : recordKey(row.record)));
  if (new Set(keys).size < keys.length) return null;
  return {
    keys: packed(keys),
    meta: list.meta,
    envelope: list.envelope,
    isKnown: false,
    partial: {
      unchanged: packed(list.rows.flatMap((row) => ('id' in row ? [row.id] : []))),
      changed: list.rows.flatMap((row) => ('id' in row ? [] : [row.record])),
    },
    digest: list.digest,
    read: once(() => answer.withRedactedErrors(() => readList(answer).records)),
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

/** Computes a value on first use, then frees its inputs. */
function once<T>(make: () => T): () => T {
  let held: { readonly make: () => T } | { readonly made: T } = { make };
  return () => {
    if ('make' in held) held = { made: held.make() };
    return held.made;
  };
}
