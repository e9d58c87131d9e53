import { editDistance } from './edit-distance.ts';

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
