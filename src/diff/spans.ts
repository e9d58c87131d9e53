import { parseIds } from './page-ids.ts';

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
  readonly idsLastAnsweredUpTo: (tick: number) => string[];
  readonly firstAnswered: (index: number) => number;
  readonly lastSent: (index: number) => number;
  readonly lastAnswered: (index: number) => number;
  /** The tick at which the last response that showed a record was sent; null where none did. */
  readonly lastShown: (id: string) => number | null;
}

interface ShownIds {
  readonly ids: string;
  readonly sent: number;
  readonly answered: number;
}

/** @param known Ids that were shown before all of these responses. */
export function spansOf(responses: readonly ShownIds[], known: readonly string[]): Spans {
  const ids = createIdNumbers();
  const spans: Span[] = []; // Ids of a page share an object, so that each takes one place.
  for (const id of known) spans[ids.number(id)] = KNOWN_BEFORE;
  // An unchanged page has the same text object in several sweeps, so its ids are read once.
  for (const [text, span] of spansByText(responses)) {
    let before: Span | undefined;
    let merged = span;
    for (const index of ids.numbers(text)) {
      const earlier = spans[index];
      if (earlier !== before) merged = mergeSpans(earlier, span);
      before = earlier;
      spans[index] = merged;
    }
  }
  const lastSent = (index: number): number => spans[index]?.lastSent ?? -Infinity;
  const lastAnswered = (index: number): number => spans[index]?.lastAnswered ?? -Infinity;
  return {
    ids,
    idsLastAnsweredUpTo: (tick) =>
      ids.idsWhere((index) => lastAnswered(index) <= tick && lastAnswered(index) !== -Infinity),
    firstAnswered: (index) => spans[index]?.firstAnswered ?? Infinity,
    lastSent,
    lastAnswered,
    lastShown: (id) => {
      const tick = lastSent(ids.find(id));
      return tick === -Infinity ? null : tick;
    },
  };
}

const KNOWN_BEFORE: Span = { firstAnswered: -Infinity, lastSent: -Infinity, lastAnswered: -Infinity };

function mergeSpans(a: Span | undefined, b: Span): Span {
  if (a === undefined) return b;
  return {
    firstAnswered: Math.min(a.firstAnswered, b.firstAnswered),
    lastSent: Math.max(a.lastSent, b.lastSent),
    lastAnswered: Math.max(a.lastAnswered, b.lastAnswered),
  };
}

type IdNumbers = ReturnType<typeof createIdNumbers>;

/** Most ids are exact numbers, which take no memory beside the array. */
const keyOf = (id: string): number | string => (id.length < 16 ? Number(id) : id);

/** Numbers record ids from 0 on, in the order of their first appearance. */
function createIdNumbers() {
  const numbers = new Map<number | string, number>(); // In the order of the numbers.
  const numberOf = (id: string): number => {
    const key = keyOf(id);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, numbers.size);
    return numbers.size - 1;
  };
  return {
    /** The number of an id, which may be new. */
    number: numberOf,
    /** The numbers of the ids that a text names, `[1,2,3]`. */
    numbers: (text: string): number[] => parseIds(text).map(numberOf),
    /** The number of one id; −1 if it has none. */
    find: (id: string): number => numbers.get(keyOf(id)) ?? -1,
    size: (): number => numbers.size,
    /** The ids whose numbers are wanted, in the order of their numbers. */
    idsWhere: (isWanted: (index: number) => boolean): string[] => {
      const wanted: string[] = [];
      for (const [id, index] of numbers) if (isWanted(index)) wanted.push(String(id));
      return wanted;
    },
  };
}

function spansByText(responses: readonly ShownIds[]): Map<string, Span> {
  const byText = new Map<string, Span>();
  for (const { ids, sent, answered } of responses) {
    const span = { firstAnswered: answered, lastSent: sent, lastAnswered: answered };
    byText.set(ids, mergeSpans(byText.get(ids), span));
  }
  return byText;
}
