import type { AuthHeader, ListedKind, RetrievableKind } from '../catalog/kind.ts';
import { withoutExcluded } from '../catalog/exclude.ts';
import type { JsonObject } from '../lib/json/json.ts';
import { createDeadline } from '../lib/time/deadline.ts';
import { readSweep, readPageRange, type ListResponse, type SweepOptions } from './paging/list-responses.ts';
import { pageQuery, type LoadOptions } from './paging/page-loader.ts';
import { readListBody, recordReader, type ListBody } from './http/read-answer.ts';
import type { SourceParts, SourceSettings } from './http/http.ts';
import { createRequester, type AnswerWithTicks, type PageSizes } from './http/requester.ts';
import type { PageRange } from './paging/walk-steps.ts';
import { createWriteSender, type WriteOptions, type WriteRequest } from './write.ts';
import type { WriteAnswer } from './http/write-answer.ts';

/** The service. Every method that reads throws `SourceError` where the service fails us. */
export interface Source extends AsyncDisposable {
  /** Reads a whole list, page by page. Pages load side by side and come in page order. */
  sweep(kind: ListedKind, options: SweepOptions): AsyncIterable<ListResponse>;
  /**
   * Reads a range of pages only, side by side, in page order; `to` may be Infinity.
   *
   * Ends after the first empty page, and before one that was shown already. No response proves the list's end.
   */
  pages(kind: ListedKind, range: PageRange, options?: LoadOptions): AsyncIterable<ListResponse>;
  /** Reads one record, or null if the service itself says that it does not exist; with the ticks of its request. */
  retrieve(
    kind: RetrievableKind,
    id: string,
    options?: Pick<LoadOptions, 'tick' | 'signal'>,
  ): Promise<{ readonly record: JsonObject | null } & Omit<AnswerWithTicks<unknown>, 'value'>>;
  /** Asks for the first page once, with the token under `header` or as the settings say; returns it with the service's time, if it sends one. */
  probe(kind: ListedKind, header?: AuthHeader): Promise<ListBody & { readonly serviceTime: Date | null }>;
  /** Creates or updates one record, by one request that nothing repeats; hands back facts and throws on bugs only. */
  write(request: WriteRequest, options?: WriteOptions): Promise<WriteAnswer>;
  readonly pageSizes: PageSizes;
  /** How many requests may be under way at once. */
  readonly concurrency: number;
  /** Running totals: attempts sent, and those of them that were not the first. */
  readonly counts: { readonly requests: number; readonly retries: number };
  /** Those of reading, by the name of the kind. */
  readonly countsOfKinds: Readonly<Record<string, Source['counts']>>;
  /** Aborts all requests under way and closes all connections. */
  close(): Promise<void>;
}

export function openSource(settings: SourceSettings, parts: SourceParts): Source {
  const requester = createRequester(settings, parts);

  return {
    sweep: (kind, options) => readSweep(requester, kind, options),
    pages: (kind, range, options) => readPageRange(requester, kind, { ...range, ...options }),
    retrieve: async (kind, id, options = {}) => {
      const { retrieve } = kind;
      const path = retrieve.path.replace(':id', () => encodeURIComponent(id));
      const read = recordReader(id);
      const scope = createDeadline(null, [options.signal, requester.closing]);
      const { signal } = scope;
      const about = { kind: kind.name, path, query: '', page: null, header: retrieve.header };
      const request = { ...about, read, ...options, signal };
      const answer = requester.repeat(request, (number) => requester.requestOnce(request, number));
      const { value, sent, answered } = await answer.finally(scope.release);
      return { record: value && withoutExcluded(kind, value), sent, answered };
    },
    probe: async (kind, header) => {
      const { value } = await requester.requestOnce({
        kind: kind.name,
        path: kind.list.path,
        query: pageQuery(kind, 1, settings.pageSize),
        page: 1,
        header: kind.list.header,
        ...(header && { tokenHeaderNames: [header] }),
        read: (answer) => ({
          ...readListBody(answer),
          date: new Date(String(answer.headers['date'] ?? '')),
        }),
      });
      return { ...value, serviceTime: Number.isNaN(value.date.getTime()) ? null : value.date };
    },
    write: createWriteSender(settings, parts, requester),
    pageSizes: requester.pageSizes,
    concurrency: requester.concurrency,
    counts: requester.counts,
    countsOfKinds: requester.countsOfKinds,
    close: () => requester.close(),
    [Symbol.asyncDispose]: () => requester.close(),
  };
}
