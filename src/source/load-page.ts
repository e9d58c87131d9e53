import { setImmediate as breathe } from 'node:timers/promises';
import type { ListedKind } from '../catalog/kind.ts';
import { createQueue } from '../lib/queue.ts';
import { NO_META } from './envelope.ts';
import type { Answered } from './exchange.ts';
import type { Window } from './in-order.ts';
import { readKnown, readPage } from './list-page.ts';
import type { Expected, ListPage } from './list-page.ts';
import type { PageResponse } from './page-checks.ts';
import type { Received } from './read-answer.ts';
import type { Requester } from './requester.ts';

export interface ListParts {
  readonly requester: Requester;
}

export interface LoadOptions {
  /** The next tick of the kind's counter: called when a request is sent and when its answer has arrived. */
  readonly tick: () => number;
  readonly signal?: AbortSignal | undefined;
}

export interface LoadedPage extends Answered<ListPage> {
  readonly page: number;
}

/** Loads a page; ends soon after its signal fires. */
export type LoadPage = (page: number, signal: AbortSignal) => Promise<LoadedPage>;

/** Pages asked for ahead of the one being landed, for each that may be under way: landing one must not idle the network. */
const PREFETCH = 1.5;

/** How the pages of a list are asked for side by side, and what ends it. */
export function windowOf({ requester }: ListParts, { signal }: LoadOptions): Window {
  return { width: Math.ceil(PREFETCH * requester.width.now()), signals: [signal, requester.closing] };
}

/** Makes what loads the pages of a list; `expect` says what is known of a page before it is asked for. */
export function pageLoader(
  { requester }: ListParts,
  kind: ListedKind,
  { tick, expect = () => ({}) }: LoadOptions & { readonly expect?: (page: number) => Expected },
): LoadPage {
  const { path, header } = kind.list;
  const oneByOne = createQueue(); // Each in a turn of the event loop of its own.
  return async (page, signal) => {
    const query = pageQuery(kind, page);
    const expected = expect(page);
    const question = { path, query, page, header, read: firstLook(expected), tick, signal };
    const { value, ...ticks } = await requester.ask(question);
    return {
      page,
      ...ticks,
      value: 'keys' in value ? value : await oneByOne(() => secondLook(value, expected)),
    };
  };
}

/** Reads an answer, unless it may be read in part once more is known. */
function firstLook(expected: Expected): (answer: Received) => ListPage | Received {
  const [known, whole] = [readKnown(expected), readPage(expected)];
  return (answer) => known(answer) ?? (expected.digests === undefined ? whole(answer) : answer);
}

async function secondLook(answer: Received, expected: Expected): Promise<ListPage> {
  await breathe(); // What has arrived meanwhile comes first: its slot is free for the next request.
  const digests = (await expected.digests?.()) ?? null;
  return answer.unseen(() => readPage(expected, digests)(answer));
}

/** A loaded page as the plans compare it. */
export function pageResponse({ page, value }: LoadedPage): PageResponse {
  return { page, keys: value.keys, meta: value.meta ?? NO_META };
}

/** The query for a page (§8); a list without documented parameters is asked bare first. */
export function pageQuery({ list }: ListedKind, page: number): string {
  if (list.paging === 'documented') return `?page=${page}&per_page=100`;
  return page === 1 ? '' : `?page=${page}`;
}
