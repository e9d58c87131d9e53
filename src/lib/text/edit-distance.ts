/** The number of letters to insert, delete, replace or swap with their neighbour to turn one text into the other. */
export function editDistance(from: string, to: string): number {
  const [source, target] = [Array.from(from), Array.from(to)];
  let [before, row]: (readonly number[])[] = [[], Array.from({ length: target.length + 1 }, (_, at) => at)];
  for (const at of source.keys()) {
    const next = nextRow({ source, target, at, before: before ?? [], row: row ?? [] });
    [before, row] = [row, next];
  }
  return row?.at(-1) ?? 0;
}

interface Progress {
  readonly source: readonly string[];
  readonly target: readonly string[];
  /** The letter of `source` whose row is wanted. */
  readonly at: number;
  /** The rows of the two letters before it: distances to each beginning of `target`. */
  readonly before: readonly number[];
  readonly row: readonly number[];
}

function nextRow({ source, target, at, before, row }: Progress): readonly number[] {
  const far = source.length + target.length;
  const next = [at + 1];
  for (const [index, letter] of target.entries()) {
    const isSame = source[at] === letter;
    const isSwapped = index > 0 && source[at] === target[index - 1] && source[at - 1] === letter;
    const replaced = (row[index] ?? far) + (isSame ? 0 : 1);
    const swapped = isSwapped ? (before[index - 1] ?? far) + 1 : far;
    next.push(Math.min(replaced, swapped, (row[index + 1] ?? far) + 1, (next[index] ?? far) + 1));
  }
  return next;
}
