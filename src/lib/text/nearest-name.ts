const LONGEST_GUESSED = 100;

/**
 * The known name that differs least from a misspelt one, case and separators aside; undefined where all differ by more than a
 * third of its letters.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const letters = lettersOf(name.slice(0, LONGEST_GUESSED));
  let best: { readonly name: string; readonly distance: number } | undefined;
  const most = Math.max(1, Math.floor(letters.length / 3));
  for (const candidate of known) {
    const its = lettersOf(candidate);
    if (Math.abs(its.length - letters.length) > most) continue;
    const distance = editDistance(letters, its);
    if (distance <= most && distance < (best?.distance ?? Infinity)) best = { name: candidate, distance };
  }
  return best?.name;
}

/** Accents aside, too. */
function lettersOf(name: string): string {
  return name
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/** Ends a message about an unknown name: `; did you mean source.baseUrl?`, or nothing where no known name is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const letters = lettersOf(name);
  // A group is no answer to a name inside it.
  const isGroup = (group: string): boolean => letters.startsWith(group) && letters !== group;
  const guess =
    elsewhere(name, known) ??
    nearestName(
      name,
      known.filter((each) => !isGroup(lettersOf(each))),
    );
  return guess === undefined ? '' : `; did you mean ${guess}?`;
}

/** The one known name with the same last word: the right setting in the wrong group, a city without its continent. */
function elsewhere(name: string, known: readonly string[]): string | undefined {
  const sameWord = known.filter((candidate) => lastWordOf(candidate) === lastWordOf(name));
  return sameWord.length === 1 ? sameWord[0] : undefined;
}

const lastWordOf = (name: string): string => lettersOf(name.split(/\.|__|\//).at(-1) ?? '');

/** The number of letters to insert, delete, replace or swap with their neighbour to turn one text into the other. */
export function editDistance(from: string, to: string): number {
  const source = Array.from(from);
  const target = Array.from(to);
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
