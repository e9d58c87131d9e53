import { DEEPEST, compactJson, isDeeper, isNumber, isObject } from '../lib/json.ts';
import type { Json } from '../lib/json.ts';
import type { Meta } from './envelope.ts';
import { digestPage, openKnown } from './page-digest.ts';
import type { KnownPage, PageDigest } from './page-digest.ts';
import { readList, refuseFault } from './read-answer.ts';
import type { Received } from './read-answer.ts';

/** A list's answer as a sweep takes it. */
export interface ListPage {
  /** One text per record that tells it from its neighbours. */
  readonly keys: readonly string[];
  readonly meta: Meta | null;
  readonly envelope: string;
  readonly isKnown: boolean;
  readonly digest: PageDigest | null;
  readonly read: () => readonly Json[];
}

/** What is known of a page before it is asked for; without a salt no digest is made, and no page is known. */
export interface Expected {
  readonly salt?: string | undefined;
  readonly known?: KnownPage | undefined;
}

/**
 * Makes the reader for a page of a list: one that shows the records of the known page is not parsed.
 *
 * @throws {SourceError} Where the answer is no list.
 */
export function readPage({ salt, known }: Expected): (answer: Received) => ListPage {
  return (answer) => {
    refuseFault(answer);
    if (salt === undefined) return { ...parsed(answer), digest: null };
    const page = known && recognized(answer, salt, known);
    return page ?? { ...parsed(answer), digest: digestPage(answer, salt) };
  };
}

function recognized(answer: Received, salt: string, known: KnownPage): ListPage | null {
  const list = openKnown(answer, salt, known);
  if (list === null) return null;
  return {
    keys: known.keys,
    meta: list.meta,
    envelope: list.envelope,
    isKnown: true,
    digest: { digest: known.digest, bytes: known.bytes },
    read: once(() => answer.unseen(() => readList(answer).records)),
  };
}

function parsed(answer: Received): Omit<ListPage, 'digest'> {
  const { records, meta, envelope } = readList(answer);
  return { keys: records.map(recordKey), meta, envelope, isKnown: false, read: () => records };
}

/** What tells a record from its neighbours: its id, as text however it was sent, or all of it. */
function recordKey(record: Json): string {
  const id = isObject(record) ? record['id'] : undefined;
  if (isNumber(id)) return String(id);
  if (typeof id === 'string' && id !== '') return id;
  return isDeeper(record, DEEPEST) ? 'nested too deep' : compactJson(record);
}

/** Makes a value when it is first asked for, and lets go of what it is made of. */
function once<T>(make: () => T): () => T {
  let held: { readonly make: () => T } | { readonly made: T } = { make };
  return () => {
    if ('make' in held) held = { made: held.make() };
    return held.made;
  };
}
