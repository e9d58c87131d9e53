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

/** The spans of all ids, by the numbers of `ids`; that of an id without a number lasts from +∞ to −∞. */
export interface Spans {
  readonly ids: IdNumbers;
  readonly firstAnswered: (index: number) => number;
  readonly lastSent: (index: number) => number;
  readonly lastAnswered: (index: number) => number;
}

interface Shown {
  readonly sweep: number | null;
  readonly rows: number;
  readonly ids: string;
  readonly sent: number;
  readonly answered: number;
}

const FEWEST_IDS = 8;
const KNOWN_BEFORE: Span = { firstAnswered: -Infinity, lastSent: -Infinity, lastAnswered: -Infinity };

/** @param known Ids that were shown before all of these responses. */
export function spansOf(responses: readonly Shown[], known: readonly string[]): Spans {
  const expected = Math.max(mostRows(responses) + known.length, FEWEST_IDS);
  const ids = createIdNumbers(expected);
  const from = responses.reduce((least, { sent }) => Math.min(least, sent), Infinity);
  const until = responses.reduce((most, { answered }) => Math.max(most, answered), 0);
  const [firstAnswered, lastSent, lastAnswered] = [
    createColumn({ from, until, unset: Infinity, length: expected }),
    createColumn({ from, until, unset: -Infinity, length: expected }),
    createColumn({ from, until, unset: -Infinity, length: expected }),
  ];
  const add = (text: string, span: Span): void => {
    ids.number(text, (index) => {
      if (span.firstAnswered < firstAnswered.get(index)) firstAnswered.set(index, span.firstAnswered);
      if (span.lastSent > lastSent.get(index)) lastSent.set(index, span.lastSent);
      if (span.lastAnswered > lastAnswered.get(index)) lastAnswered.set(index, span.lastAnswered);
    });
  };
  for (const id of known) add(id, KNOWN_BEFORE);
  // A page that did not change between sweeps is one text: it is read once.
  for (const [text, span] of spansByText(responses)) add(text, span);
  return { ids, firstAnswered: firstAnswered.get, lastSent: lastSent.get, lastAnswered: lastAnswered.get };
}

/** Rows that the longest sweep read: hardly more ids will there be. */
function mostRows(responses: readonly Shown[]): number {
  const rows = new Map<number | null, number>();
  for (const response of responses) rows.set(response.sweep, (rows.get(response.sweep) ?? 0) + response.rows);
  return Math.max(0, ...rows.values());
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

/** Ticks by the numbers of ids. */
interface Column {
  readonly get: (index: number) => number;
  readonly set: (index: number, tick: number) => void;
}

interface ColumnOf {
  /** The earliest and the latest tick that it is to hold, besides both infinities. */
  readonly from: number;
  readonly until: number;
  /** What it holds where nothing was set. */
  readonly unset: number;
  readonly length: number;
}

const LONGEST = 2 ** 32 - 3;

/** Four bytes a tick, counted from the first: a million objects would cost a tenth of our memory. */
function createColumn({ from, until, unset, length }: ColumnOf): Column {
  const isShort = until - from < LONGEST;
  const create = (room: number) => (isShort ? new Uint32Array(room) : new Float64Array(room));
  let ticks = create(length); // 0 = nothing was set, 1 = the other infinity.
  return {
    get: (index) => {
      const tick = ticks[index] ?? 0;
      if (tick > 1) return tick - 2 + from;
      return tick === 0 ? unset : -unset;
    },
    set: (index, tick) => {
      if (index >= ticks.length) {
        const grown = create(ticks.length * 2);
        grown.set(ticks);
        ticks = grown;
      }
      ticks[index] = Number.isFinite(tick) ? tick - from + 2 : tick === unset ? 0 : 1;
    },
  };
}
