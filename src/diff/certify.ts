import { spansOf, type Spans } from './spans.ts';

/** The ids of one list response and its time span, in ticks: one counter per kind, advanced by every send and receipt. */
export interface Sighting {
  /** The sweep that it belongs to; null = a read of the list's head, which proves nothing about the end. */
  readonly sweep: number | null;
  readonly sent: number;
  readonly answered: number;
  readonly page: number;
  /** Rows on the page, those without an id too. */
  readonly rows: number;
  /** Every id on the page, as JSON numbers up to 2^63−1: `[1,2,3]`. */
  readonly ids: string;
  /** The most rows that the list had, if this response proves its end. */
  readonly endRows: number | null;
  /** Rows that the list had by its own account. */
  readonly total: number | null;
}

export type Certification = Certificate | Uncertified;

/** The list is known exactly, as of the response `point`. */
export interface Certificate extends Pick<Spans, 'lastShown'> {
  readonly certified: true;
  readonly point: Sighting;
  /** Rows that the list had. */
  readonly size: number;
  /** The record was in the list at the point. */
  readonly isInList: (id: string) => boolean;
  /** Some response that is not certainly before the point showed it. */
  readonly wasShownSince: (id: string) => boolean;
}

interface Uncertified {
  readonly certified: false;
  readonly reason: UncertifiedReason;
  /** One phrase for a person. */
  readonly detail: string;
}

type UncertifiedReason =
  'no_end' | 'total_differs' | 'rows_unseen' | 'page_size_unproven' | 'too_many_rows' | 'two_tokens';

/** A response that proves the list's end: a candidate for a certificate. */
interface Point extends Sighting {
  readonly endRows: number;
}

/**
 * Names the rows that a list had at one instant, where list responses prove it: the sandwich count. A response reads the list
 * at one instant between its ticks `sent` and `answered`, so one is certainly before another where it was answered before the
 * other was sent. A record that left the list does not return; so an id shown certainly before a point and certainly after it
 * was in the list at the point. If these, with the ids on the point itself, are as many as the point proves that the list had
 * at most, they are the list. Pages in flight side by side, their order of landing and rows that move change nothing in this.
 * @param responses All valid ones of the last few sweeps, those of sweeps that failed too, in any order.
 * @param known Ids that a response showed before the first of these was sent. Never rows that these sweeps themselves landed,
 * nor rows that only a write or a retrieve showed: the list may lag behind those.
 * @param spans Those of the responses and the known ids, where they are wanted for more than this.
 */
export function certify(
  responses: readonly Sighting[],
  known: readonly string[] = [],
  spans: Spans = spansOf(responses, known),
): Certification {
  let bestSoFar: Uncertified | null = null;
  for (const point of findPoints(responses)) {
    const certification = certifyAt(point, responses, spans);
    // The newest point that certifies or contradicts the list decides; without one, the point with the most evidence.
    if (certification.certified || certification.reason === 'too_many_rows') return certification;
    // A point whose total agrees is stronger evidence than the empty page after it, which only bounds the list.
    if (
      bestSoFar === null ||
      (bestSoFar.reason === 'total_differs' && certification.reason === 'rows_unseen')
    )
      bestSoFar = certification;
  }
  return bestSoFar ?? uncertified('no_end', 'no response proves the end of the list');
}

/** Newest first. */
function findPoints(responses: readonly Sighting[]): Point[] {
  return responses
    .filter((response): response is Point => response.sweep !== null && response.endRows !== null)
    .filter((response) => {
      // The same sweep then found rows beyond the point: its page has a hole, or the list grew.
      const isBeyond = (later: Sighting): boolean =>
        later.sweep === response.sweep &&
        later.page > response.page &&
        later.rows > 0 &&
        later.sent > response.answered;
      return response.rows === 0 || !responses.some(isBeyond);
    })
    .sort((a, b) => b.answered - a.answered);
}

function certifyAt(point: Point, responses: readonly Sighting[], spans: Spans): Certification {
  const { endRows, total, sent } = point;
  if (total !== null && total !== endRows)
    return uncertified('total_differs', `its total is ${total}, its pages hold ${endRows} rows`);

  const isLive = liveAt(point, spans);
  const size = isLive.reduce((count, live) => count + live, 0);
  if (size < endRows)
    return uncertified(
      'rows_unseen',
      `${size} of ${endRows} rows seen both before and after the response that proves the end`,
    );
  if (total === null && !isPageSizeProven(point, responses, spans))
    return uncertified(
      'page_size_unproven',
      'the list gives no total, and page 1 was not seen while other rows were certainly there',
    );
  if (size > endRows)
    return uncertified(
      'too_many_rows',
      `${size} rows were there when a response proved that there are ${endRows} at most`,
    );

  const { ids, lastAnswered, lastShown } = spans;
  return {
    certified: true,
    point,
    size,
    isInList: (id) => isLive[ids.find(id)] === 1,
    wasShownSince: (id) => lastAnswered(ids.find(id)) > sent,
    lastShown,
  };
}

/**
 * Whether the arithmetic of a point without a total counts by the true page size: page 1 was as long in the same sweep while
 * further records were certainly in the list, so it was full.
 */
function isPageSizeProven(point: Point, responses: readonly Sighting[], spans: Spans): boolean {
  const { page, endRows, rows, sweep } = point;
  if (page === 1) return true;
  const size = (endRows - rows) / (page - 1);
  const liveCount = (response: Sighting): number =>
    liveAt(response, spans).reduce((count, live) => count + live, 0);
  return responses.some(
    (first) => first.sweep === sweep && first.page === 1 && first.rows === size && liveCount(first) > size,
  );
}

/** By the number of an id: 1 = it was in the list when the response was made. */
function liveAt(sighting: Sighting, spans: Spans): Uint8Array {
  const { ids, firstAnswered, lastSent } = spans;
  const isLive = new Uint8Array(ids.size());
  for (let index = 0; index < isLive.length; index++) {
    if (firstAnswered(index) < sighting.sent && lastSent(index) > sighting.answered) isLive[index] = 1;
  }
  for (const index of ids.numbers(sighting.ids)) isLive[index] = 1;
  return isLive;
}

function uncertified(reason: UncertifiedReason, detail: string): Uncertified {
  return { certified: false, reason, detail };
}
