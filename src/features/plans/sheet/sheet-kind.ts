import { UsageError } from '../../../lib/sync-error.ts';

/**
 * Finds the record kind of a sheet: the one that a person chose, or that the sheet of the workbook or the file is named after.
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

/** The only kind whose name stands in a name as a word, as in `bi_clients (2026-11).csv`; the longest of those that contain others. */
function kindInName(kinds: readonly string[], name: string | undefined): string | undefined {
  const found = kinds.filter((kind) => wordsOf(name ?? '').includes(wordsOf(kind)));
  const [kind, ...others] = found.filter((each) => !found.some((one) => one !== each && one.includes(each)));
  return others.length === 0 ? kind : undefined;
}

const wordsOf = (name: string): string => `_${name.toLowerCase().replace(/[^\p{L}]+/gu, '_')}_`;
