import type { ListedKind } from '../catalog/kind.ts';
import { DEEPEST, compactJson, isDeeper, isObject } from '../lib/json.ts';
import type { Json } from '../lib/json.ts';
import { createDeadline } from './deadline.ts';
import type { ListEnd } from './end-proof.ts';
import { NO_META } from './envelope.ts';
import type { ListBody, Meta } from './envelope.ts';
import type { Answered } from './exchange.ts';
import { inOrder } from './in-order.ts';
import { readList } from './read-answer.ts';
import type { Requester } from './requester.ts';
import { advance, startSweep } from './sweep-plan.ts';

export interface SweepOptions {
  /** Asks on until an empty page even where `meta` says that the list has ended: first sweep, verify. */
  readonly thorough: boolean;
  /** Rows that the list had when it was last read: a shorter answer without `meta` may be its first page. */
  readonly knownRows?: number;
  /** The next tick of the kind's counter: called when a request is sent and when its answer has arrived. */
  readonly tick: () => number;
  readonly signal?: AbortSignal;
}

export interface ListResponse {
  /** The page that was asked for. */
  readonly page: number;
  readonly sent: number;
  readonly answered: number;
  /** Whatever stood in `data`, unchecked. */
  readonly records: readonly Json[];
  readonly meta: Meta | null;
  /** How the records were wrapped. */
  readonly envelope: string;
  /** What this response proves about the list's end: after an empty page at most, else exactly that many rows. */
  readonly end: ListEnd | null;
  readonly plan: { readonly lastPage: number | null };
}

export interface SweepParts {
  readonly requester: Requester;
  readonly concurrency: number;
}

/** Pages asked for ahead of the one being landed, for each that may be under way: landing one must not idle the network. */
const PREFETCH = 2;

/** Carries out the plan of a sweep: asks, yields each response in the plan's order, asks on. */
export async function* sweepList(
  { requester, concurrency }: SweepParts,
  kind: ListedKind,
  { thorough, knownRows = 0, tick, signal }: SweepOptions,
): AsyncGenerator<ListResponse> {
  const load = async (page: number, windowSignal: AbortSignal): Promise<[number, Answered<ListBody>]> => {
    const life = createDeadline(null, [signal, windowSignal]);
    try {
      const { path, header } = kind.list;
      const query = pageQuery(kind, page);
      return [
        page,
        await requester.ask({ path, query, page, header, read: readList, tick, signal: life.signal }),
      ];
    } finally {
      life.release();
    }
  };

  let plan = startSweep({ where: `GET ${kind.list.path}`, paging: kind.list.paging, thorough, knownRows });
  while (plan.ask !== null) {
    for await (const [page, { value, sent, answered }] of inOrder(plan.ask, PREFETCH * concurrency, load)) {
      const { records, meta, envelope } = value;
      plan = advance(plan, { page, keys: records.map(recordKey), meta: meta ?? NO_META });
      yield {
        page,
        sent,
        answered,
        records,
        meta,
        envelope,
        end: plan.end,
        plan: { lastPage: plan.lastPage },
      };
    }
  }
}

/** The query for a page (§8); a list without documented parameters is asked bare first. */
export function pageQuery({ list }: ListedKind, page: number): string {
  if (list.paging === 'documented') return `?page=${page}&per_page=100`;
  return page === 1 ? '' : `?page=${page}`;
}

/** What tells a record from its neighbours: its id, or all of it. */
function recordKey(record: Json): string {
  const known = (isObject(record) ? record['id'] : undefined) ?? record;
  return isDeeper(known, DEEPEST) ? 'nested too deep' : compactJson(known);
}
