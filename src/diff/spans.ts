import { createIdNumbers } from './id-numbers.ts';
import type { IdNumbers } from './id-numbers.ts';

/** When an id, or a page with the same ids, was shown: ticks. */
export interface Span {
  /** Of the first response to arrive that showed it; −∞ where it is known from before. */
  readonly firstAnswered: number;
  /** Of the last one to be sent, and the last one to arrive. */
  readonly lastSent: number;
  readonly lastAnswered: number;
}

/** The spans of all ids, by the numbers of `ids`: columns, as a million objects would cost a tenth of our memory. */
export interface Spans {
  readonly ids: IdNumbers;
  readonly firstAnswered: Float64Array;
  readonly lastSent: Float64Array;
  readonly lastAnswered: Float64Array;
}

interface Shown {
  readonly ids: string;
  readonly sent: number;
  readonly answered: number;
}

const KNOWN_BEFORE: Span = { firstAnswered: -Infinity, lastSent: -Infinity, lastAnswered: -Infinity };

/** @param known Ids that were shown before all of these responses. */
export function spansOf(responses: readonly Shown[], known: readonly string[]): Spans {
  const ids = createIdNumbers();
  let spans = createSpans(ids, 8);
  const add = (text: string, span: Span): void => {
    ids.number(text, (index) => {
      if (index >= spans.lastSent.length) spans = doubled(spans);
      widen(spans, index, span);
    });
  };
  for (const id of known) add(id, KNOWN_BEFORE);
  // A page that did not change between sweeps is one text: it is read once.
  for (const [text, span] of spansByText(responses)) add(text, span);
  return spans;
}

function spansByText(responses: readonly Shown[]): Map<string, Span> {
  const byText = new Map<string, Span>();
  for (const { ids, sent, answered } of responses) {
    const before = byText.get(ids);
    byText.set(ids, {
      firstAnswered: Math.min(before?.firstAnswered ?? Infinity, answered),
      lastSent: Math.max(before?.lastSent ?? -Infinity, sent),
      lastAnswered: Math.max(before?.lastAnswered ?? -Infinity, answered),
    });
  }
  return byText;
}

function createSpans(ids: IdNumbers, length: number): Spans {
  return {
    ids,
    firstAnswered: new Float64Array(length).fill(Infinity),
    lastSent: new Float64Array(length).fill(-Infinity),
    lastAnswered: new Float64Array(length).fill(-Infinity),
  };
}

function doubled(spans: Spans): Spans {
  const grown = createSpans(spans.ids, spans.lastSent.length * 2);
  grown.firstAnswered.set(spans.firstAnswered);
  grown.lastSent.set(spans.lastSent);
  grown.lastAnswered.set(spans.lastAnswered);
  return grown;
}

function widen({ firstAnswered, lastSent, lastAnswered }: Spans, index: number, span: Span): void {
  if (span.firstAnswered < (firstAnswered[index] ?? Infinity)) firstAnswered[index] = span.firstAnswered;
  if (span.lastSent > (lastSent[index] ?? -Infinity)) lastSent[index] = span.lastSent;
  if (span.lastAnswered > (lastAnswered[index] ?? -Infinity)) lastAnswered[index] = span.lastAnswered;
}
