import { editDistance } from '../lib/text/edit-distance.ts';

/** Ends a message about an unknown name: `; did you mean source.baseUrl?`, or nothing where no known name is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const guess = elsewhere(name, known) ?? nearest(name, known);
  return guess === undefined ? '' : `; did you mean ${guess}?`;
}

/** The known name that differs least, by at most a third of its letters. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const letters = lettersOf(name);
  const ranked = known
    .filter((candidate) => !isWithin(letters, lettersOf(candidate))) // A group is no answer to a name inside it.
    .map((candidate) => ({ candidate, distance: editDistance(letters, lettersOf(candidate)) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= letters.length / 3 ? best.candidate : undefined;
}

const isWithin = (letters: string, group: string): boolean => letters.startsWith(group) && letters !== group;

/** The one known name with the same last word: the right setting in the wrong group, a city without its continent. */
function elsewhere(name: string, known: readonly string[]): string | undefined {
  const sameWord = known.filter((candidate) => lastWordOf(candidate) === lastWordOf(name));
  return sameWord.length === 1 ? sameWord[0] : undefined;
}

/** Case and separators aside, so that `base_url` and `baseUrl` are the same. */
function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function lastWordOf(name: string): string {
  return lettersOf(name.split(/\.|__|\//).at(-1) ?? '');
}
