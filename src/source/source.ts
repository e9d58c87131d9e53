import type { AuthHeader, ListedKind, RetrievableKind } from '../catalog/kind.ts';
import type { JsonObject } from '../lib/json.ts';
import { readList, readRecord } from './read-answer.ts';
import { createRequester } from './requester.ts';
import type { SourceParts, SourceSettings } from './settings.ts';
import { pageQuery, sweepList } from './sweep.ts';
import type { ListResponse, SweepOptions } from './sweep.ts';

export type { SourceParts, SourceSettings } from './settings.ts';
export type { ListResponse, SweepOptions } from './sweep.ts';

/** The service, as far as it is read. Every method throws `SourceError` where the service fails us. */
export interface Source extends AsyncDisposable {
  /** Reads a whole list, page by page, as the plan of a sweep says; side by side, pages come in page order. */
  sweep(kind: ListedKind, options: SweepOptions): AsyncIterable<ListResponse>;
  /** Reads one record; null where the service says that there is none. */
  retrieve(kind: RetrievableKind, id: string, signal?: AbortSignal): Promise<JsonObject | null>;
  /** Asks for the first page once, with the token under `header` or as the settings say. */
  probe(kind: ListedKind, header?: AuthHeader): Promise<void>;
  /** Running totals: attempts sent, and those of them that were not the first. */
  readonly counts: { readonly requests: number; readonly retries: number };
  /** Interrupts whatever is under way and lets go of all connections. */
  close(): Promise<void>;
}

export function openSource(settings: SourceSettings, parts: SourceParts): Source {
  const requester = createRequester(settings, parts);
  const { concurrency } = settings;

  return {
    sweep: (kind, options) => sweepList({ requester, concurrency }, kind, options),
    retrieve: async ({ retrieve }, id, signal) => {
      const path = retrieve.path.replace(':id', () => encodeURIComponent(id));
      const read = readRecord(id);
      const { value } = await requester.ask({
        path,
        query: '',
        page: null,
        header: retrieve.header,
        read,
        signal,
      });
      return value;
    },
    probe: async (kind, header) => {
      await requester.askOnce({
        path: kind.list.path,
        query: pageQuery(kind, 1),
        page: 1,
        header: kind.list.header,
        ...(header && { tokenUnder: [header] }),
        read: readList,
      });
    },
    counts: requester.counts,
    close: () => requester.close(),
    [Symbol.asyncDispose]: () => requester.close(),
  };
}
