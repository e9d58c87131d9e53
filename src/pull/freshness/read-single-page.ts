import type { ListedKind } from '../../catalog/kind.ts';
import { claimPreemptible, releasePreemptible } from '../../store/kinds/kind-lease.ts';
import { openSourceBinding } from '../source-binding.ts';
import { wakeSearches } from '../../store/outbox/outbox-queue.ts';
import { noteAcceptance } from '../../store/runs/run-store.ts';
import { decoderHash } from '../../store/tables/kind-table.ts';
import { LeaseError, OtherSourceError } from '../../db/session/errors.ts';
import { SourceError } from '../../source/http/errors.ts';
import { landResponses } from '../land/land-pages.ts';
import { createTally } from '../land/tally.ts';
import type { PullParts, ReadingRules } from '../parts.ts';
import { openReading } from '../sweep/open-reading.ts';
import type { KindReading } from '../reading.ts';
import { holdUntilRecognized } from '../sweep/recognize-company.ts';

/** How a reading between sweeps ended. */
export type SinglePageResult =
  /** The page has landed; how many of its records were new, different or back. */
  | { readonly is: 'landed'; readonly found: number }
  /** The list is being read, or its columns must be refilled first: nothing was requested. */
  | { readonly is: 'not begun' }
  /** A sweep has taken the list over meanwhile, or this process is to end: nothing has landed. */
  | { readonly is: 'overtaken' }
  /** Nothing has landed. `waitMs`: how long the service asked us to wait; null = it did not ask. */
  | { readonly is: 'failed'; readonly reason: string; readonly waitMs: number | null };

/**
 * Creates the reader of single pages: each is one request, and lands as in a sweep: rows, events, and a sighting that proves
 * nothing about the end of the list. A sweep that takes the list over has precedence; then nothing lands.
 *
 * The reader throws {OtherSourceError} if the mirror holds the data of another base URL, {MirrorError} if the database fails.
 */
export function createSinglePageReader(
  parts: PullParts,
  { baseUrl, rules }: { readonly baseUrl: string; readonly rules: ReadingRules },
) {
  const { session, owner, clock } = parts;
  const confirmed = new Set<string>(); // The company of a token is asked for once, not for every page that does not name it.
  /** @param onSend Called before the request leaves. */
  return async (kind: ListedKind, page: number, onSend?: () => void): Promise<SinglePageResult> => {
    const binding = { ...(await openSourceBinding(session, baseUrl, false)), confirmed };
    const lease = await claimPreemptible(session, kind.name, owner);
    if (lease === null) return { is: 'not begun' };
    let end: SinglePageResult = { is: 'not begun' };
    try {
      const reading = await openReading(parts, { kind, runId: null, binding, rules }, lease, page);
      if (lease.decodedAs !== decoderHash(reading.kind)) return end;
      end = await requestPage(parts, reading, page, onSend);
    } catch (error) {
      end = resultOfError(error);
    } finally {
      const isLanded = end.is === 'landed';
      await session.atomically(async (tx) => {
        await releasePreemptible(tx, lease);
        if (isLanded) await noteAcceptance(tx, clock.now());
      });
    }
    return end;
  };
}

async function requestPage(
  parts: PullParts,
  reading: KindReading<ListedKind>,
  page: number,
  onSend?: () => void,
): Promise<SinglePageResult> {
  const { session, source, clock } = parts;
  const { kind, ticks, rulesDigest, pages: knownPages } = reading;
  const tick = (): number => {
    onSend?.();
    return ticks.next();
  };
  const tally = createTally();
  const read = (signal: AbortSignal) => {
    const options = { tick, signal, once: true, rulesDigest, knownPages } as const;
    return holdUntilRecognized(parts, source.pages(kind, { from: page, to: page }, options), reading);
  };
  if ((await landResponses(parts, { reading, tally, read })) === null)
    return { is: 'failed', reason: 'page_repeated', waitMs: null };
  const { created, restored, updated } = tally.counts();
  if (created + restored > 0) await session.atomically((tx) => wakeSearches(tx, kind.name, clock.now()));
  return { is: 'landed', found: created + restored + updated };
}

/** A single page that shows no known record need not be another company's: the next sweep decides. */
function resultOfError(error: unknown): SinglePageResult {
  if (error instanceof LeaseError) return { is: 'overtaken' };
  if (error instanceof OtherSourceError) return { is: 'failed', reason: 'other_source', waitMs: null };
  if (!(error instanceof SourceError)) throw error;
  const { reason, passing } = error;
  if (reason === 'interrupted') return { is: 'overtaken' };
  return { is: 'failed', reason, waitMs: passing?.waitMs ?? null };
}
