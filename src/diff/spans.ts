import { createIdNumbers, type IdNumbers } from '../lib/ids/id-numbers.ts';

/** When an id, or a page with the same ids, was shown: ticks. */
interface Span {
  /** Of the first response to arrive that showed it; −∞ where it is known from before. */
  readonly firstAnswered: number;
  /** Of the last one to be sent, and the last one to arrive. */
  readonly lastSent: number;
  readonly lastAnswered: number;
}

/** The spans of all ids, by the numbers of `ids`; that of an id without a number lasts from +∞ to −∞. */
export interface Spans {
  readonly ids: IdNumbers;
  /** The ids that no response has shown after a tick, and some up to it. */
  readonly lastAnsweredUpTo: (tick: number) => string[];
  readonly firstAnswered: (index: number) => number;
  readonly lastSent: (index: number) => number;
  readonly lastAnswered: (index: number) => number;
  /** The tick at which the last response that showed a record was sent; null where none did. */
  readonly lastShown: (id: string) => number | null;
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
  const rows = new Map<number | null, number>();
  for (const { sweep, rows: more } of responses) rows.set(sweep, (rows.get(sweep) ?? 0) + more);
  const mostRows = Math.max(0, ...rows.values()); // Hardly more ids will there be than the longest sweep read.
  const expected = Math.max(mostRows + known.length, FEWEST_IDS);
  const ids = createIdNumbers(expected);
  const from = responses.reduce((least, { sent }) => Math.min(least, sent), Infinity);
  const until = responses.reduce((most, { answered }) => Math.max(most, answered), 0);
  const scale = scaleOf(from, until);
  const firstAnswered = createHighest(expected, scale.top);
  const lastSent = createHighest(expected, scale.top);
  const lastAnswered = createHighest(expected, scale.top);
  const add = (text: string, span: Span): void => {
    const first = scale.earliness(span.firstAnswered);
    const sent = scale.lateness(span.lastSent);
    const answered = scale.lateness(span.lastAnswered);
    ids.number(text, (index) => {
      firstAnswered.raise(index, first);
      lastSent.raise(index, sent);
      lastAnswered.raise(index, answered);
    });
  };
  for (const id of known) add(id, KNOWN_BEFORE);
  // An unchanged page has the same text object in several sweeps, so its ids are read once.
  for (const [text, span] of spansByText(responses)) add(text, span);
  const answeredAt = (index: number): number => scale.ofLateness(lastAnswered.get(index));
  const sentAt = (index: number): number => scale.ofLateness(lastSent.get(index));
  return {
    ids,
    lastAnsweredUpTo: (tick) =>
      ids.idsWhere((index) => answeredAt(index) <= tick && answeredAt(index) !== -Infinity),
    firstAnswered: (index) => scale.ofEarliness(firstAnswered.get(index)),
    lastSent: sentAt,
    lastAnswered: answeredAt,
    lastShown: (id) => {
      const tick = sentAt(ids.find(id));
      return tick === -Infinity ? null : tick;
    },
  };
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

/**
 * Codes for the ticks between two, and for −∞, from 1 on: an earlier tick has a higher `earliness`, a later one a higher
 * `lateness`; 0 = no tick, `top` is the highest.
 */
function scaleOf(from: number, until: number) {
  const top = until - from + 2;
  return {
    earliness: (tick: number) => (tick === -Infinity ? top : until - tick + 1),
    ofEarliness: (code: number) => (code === 0 ? Infinity : code === top ? -Infinity : until - code + 1),
    lateness: (tick: number) => (tick === -Infinity ? 0 : tick - from + 1),
    ofLateness: (code: number) => (code === 0 ? -Infinity : code + from - 1),
    top,
  };
}

/** The highest code by the number of an id: in four bytes where they suffice, for a million objects would take a tenth of our memory. */
function createHighest(length: number, top: number) {
  const create = (room: number) => (top < 2 ** 32 ? new Uint32Array(room) : new Float64Array(room));
  let codes = create(length);
  return {
    get: (index: number): number => codes[index] ?? 0,
    raise: (index: number, code: number): void => {
      if (index >= codes.length) {
        const grown = create(codes.length * 2);
        grown.set(codes);
        codes = grown;
      }
      if (code > (codes[index] ?? 0)) codes[index] = code;
    },
  };
}

/** The evidence of list responses about records that none of them has shown since a tick. */
export interface Unseen extends Pick<Spans, 'lastShown'> {
  /** Ids that were shown until then, and not since. */
  readonly ids: () => string[];
  /** How many ids were shown since. */
  readonly shown: number;
}

/**
 * Finds the records that no response sent after a tick has shown. A response under way at that tick counts as one from before
 * it: its content may be older.
 */
export function unseenSince({ ids, lastSent, lastShown }: Spans, tick: number): Unseen {
  let shown = 0;
  for (let index = 0; index < ids.size(); index++) if (lastSent(index) > tick) shown++;
  return { lastShown, ids: () => ids.idsWhere((index) => lastSent(index) <= tick), shown };
}
