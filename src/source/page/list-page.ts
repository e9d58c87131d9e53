import { withoutExcluded } from '../../catalog/exclude.ts';
import type { Kind } from '../../catalog/kind.ts';
import { DEEPEST, compactJson, isDeeper, isNumber, isObject } from '../../lib/json/json.ts';
import type { Json } from '../../lib/json/json.ts';
import { packed } from '../../lib/text/text-list.ts';
import type { TextList } from '../../lib/text/text-list.ts';
import type { Meta } from '../answer/envelope.ts';
import { readList, refuseFault } from '../answer/read-answer.ts';
import type { Received } from '../http/http.ts';
import { withoutQuote } from '../http/without-quote.ts';
import { digestPage, openKnown } from './page-digest.ts';
import type { KnownPage, PageDigest } from './page-digest.ts';

/** A list answer in the form that a sweep uses. */
export interface ListPage {
  /** One text per record that identifies it within the list: its id, as text in any spelling, or the whole record. */
  readonly keys: TextList;
  readonly meta: Meta | null;
  /** How the records were wrapped. */
  readonly envelope: string;
  /** The text of the records is that of the known page of this number: it was not parsed. */
  readonly isKnown: boolean;
  /** Null without a digest scope, or if the bytes of the records cannot be located for certain. */
  readonly digest: PageDigest | null;
  /**
   * The records in `data`, unchecked. Parsed at the first call if `isKnown`.
   *
   * @throws {SourceError} too_deep, if a known page can no longer be parsed.
   */
  readonly read: () => readonly Json[];
}

/**
 * The stored facts about a page before it is requested. Without a digest scope no digest is made, and no page is
 * known.
 */
export interface KnownPageHint {
  readonly digestScope?: string | undefined;
  readonly known?: KnownPage | undefined;
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
      ...{ keys, meta: list.meta, envelope: list.envelope, isKnown: true },
      digest: { digest, bytes },
      read: parseLater(answer),
    };
  };
}

/**
 * Makes the reader for a page of a list.
 *
 * @throws {SourceError} Where the answer is no list.
 */
export function readPage({ digestScope }: KnownPageHint): (answer: Received) => ListPage {
  return (answer) => ({
    ...parsed(answer),
    digest: digestScope === undefined ? null : digestPage(answer, digestScope),
  });
}

function parsed(answer: Received): Omit<ListPage, 'digest'> {
  const { records, meta, envelope } = readList(answer);
  const keys = packed(records.map(recordKey));
  return { keys, meta, envelope, isKnown: false, read: () => records };
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

/** A page without its kind's excluded fields; no later stage sees them. */
export function withoutExcludedFields(kind: Kind, page: ListPage): ListPage {
  if (kind.excluded === undefined) return page;
  const read = (): readonly Json[] =>
    withoutQuote(kind, page.read).map((record) => withoutExcluded(kind, record));
  return { ...page, read };
}
