import { kindLabel } from '../../../catalog/descriptions.ts';
import { LANGUAGES, translatorFor } from '../../../lib/text/translator.ts';
import { UsageError } from '../../../lib/sync-error.ts';

/**
 * Finds the record kind of a sheet: the one that a person chose, or that the sheet of the workbook or the file is named after, in either language.
 *
 * @throws {UsageError} `usage.sheet` where two of them differ.
 */
export function kindOfSheet(
  kinds: readonly string[],
  chosen: string | undefined,
  sheet: string | undefined,
  file: string,
): string | undefined {
  const shown = [chosen, kindInName(kinds, sheet), kindInName(kinds, file)];
  const [kind, other] = new Set(shown.filter((each) => each !== undefined));
  if (other === undefined) return kind;
  throw new UsageError(`The choice, the name of the sheet and that of the file differ: ${kind}, ${other}.`, {
    code: 'usage.sheet',
    hint: 'Rename the file or its sheet, or choose the other kind.',
  });
}

/**
 * The only kind whose name or label stands in a name as words, as in `bi_clients (2026-11).csv`; the longest of those that contain
 * others.
 */
function kindInName(kinds: readonly string[], name: string | undefined): string | undefined {
  const inName = wordsOf(name ?? '');
  const all = kinds.flatMap((kind) => {
    const labels = LANGUAGES.map((language) => kindLabel(translatorFor(language), kind));
    return [kind, ...labels].map((label) => ({ kind, words: wordsOf(label) }));
  });
  const found = all.filter(({ words }) => inName.includes(words));
  const longest = found.filter(
    ({ words }) => !found.some((other) => other.words !== words && other.words.includes(words)),
  );
  const [kind, ...others] = new Set(longest.map((each) => each.kind));
  return others.length === 0 ? kind : undefined;
}

/** A name as words between underscores, without accents: file systems write them in two ways. */
const wordsOf = (name: string): string =>
  `_${name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}]+/gu, '_')}_`;
