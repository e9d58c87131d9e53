const MAX_GUESSED_LENGTH = 100;
const SHORT = 4;

/**
 * The known name that differs least from a misspelt one, case and separators aside; undefined where all differ by more than a
 * third of its letters, and by more than two (in short names one) at all, or by more than `most`.
 */
export function nearestName(name: string, known: Iterable<string>, most = Infinity): string | undefined {
  const letters = lettersOf(name.slice(0, MAX_GUESSED_LENGTH));
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const candidateLetters = lettersOf(candidate);
    const isShort = Math.max(letters.length, candidateLetters.length) <= SHORT;
    const maxDifference = Math.min(most, Math.max(isShort ? 1 : 2, Math.floor(letters.length / 3)));
    if (Math.abs(candidateLetters.length - letters.length) > maxDifference) continue;
    const distance = editDistance(letters, candidateLetters);
    if (distance <= maxDifference && distance < (best?.distance ?? Infinity))
      best = { name: candidate, distance };
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
export function didYouMean(name: string, known: readonly string[], most?: number): string {
  // A group is not a suggestion for a name inside it.
  const groups = name.split(SEPARATORS).slice(0, -1).map(lettersOf);
  const near = known.filter((each) => !groups.includes(lastWordOf(each)));
  // With the same last word alone it is the right setting in the wrong group, or a city without its continent.
  const sameWord = known.filter((candidate) => lastWordOf(candidate) === lastWordOf(name));
  const guess = sameWord.length === 1 ? sameWord[0] : nearestName(name, near, most);
  return guess === undefined ? '' : `; did you mean ${guess}?`;
}

const lastWordOf = (name: string): string => lettersOf(name.split(SEPARATORS).at(-1) ?? '');

const SEPARATORS = /\.|__|\//;

/** The number of letters to insert, delete, replace or swap with their neighbour to turn one text into the other. */
export function editDistance(from: string, to: string): number {
  const source = Array.from(from);
  const target = Array.from(to);
  const maxDistance = source.length + target.length;
  // For the last letters of `source`, the distances to each beginning of `target`.
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: target.length + 1 }, (_, at) => at);
  for (const [at, ours] of source.entries()) {
    const next = [at + 1];
    for (const [index, letter] of target.entries()) {
      const isSwapped = index > 0 && ours === target[index - 1] && source[at - 1] === letter;
      const replaced = (row[index] ?? maxDistance) + (ours === letter ? 0 : 1);
      const swapped = isSwapped ? (before[index - 1] ?? maxDistance) + 1 : maxDistance;
      next.push(
        Math.min(replaced, swapped, (row[index + 1] ?? maxDistance) + 1, (next[index] ?? maxDistance) + 1),
      );
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
