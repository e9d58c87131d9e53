/** A list of short texts; an array is one. */
export interface TextList extends Iterable<string> {
  readonly length: number;
  /** The same as one comma-separated text, if it is kept like that. */
  readonly joined?: string;
  at(index: number): string | undefined;
}

const COMMA = 44;

/** The items of a comma-separated text, split on reading: a million separate strings would use ten times the memory of one. */
export function betweenCommas(text: string): TextList {
  let length: number | null = null;
  const cut = (): string[] => (text === '' ? [] : text.split(','));
  return {
    joined: text,
    get length() {
      if (length !== null) return length;
      length = text === '' ? 0 : 1;
      for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === COMMA) length++;
      return length;
    },
    at: (index) => (index === 0 && text !== '' ? text.split(',', 1)[0] : cut().at(index)),
    [Symbol.iterator]: () => cut().values(),
  };
}

/** Joins texts into one if none of them contains a comma. */
export function packed(texts: readonly string[]): TextList {
  return texts.some((text) => text === '' || text.includes(',')) ? texts : betweenCommas(texts.join());
}

/** Whether two lists have the same texts in the same order. */
export function sameTexts(a: TextList, b: TextList): boolean {
  if (a === b) return true;
  if (a.length !== b.length || a.at(0) !== b.at(0)) return false; // Before either is split.
  const others = b[Symbol.iterator]();
  for (const text of a) if (others.next().value !== text) return false;
  return true;
}
