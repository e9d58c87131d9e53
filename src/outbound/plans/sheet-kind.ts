import { UsageError } from '../../lib/sync-error.ts';

/**
 * Finds the record kind of a sheet: the one that a person chose, or that the sheet of the workbook or the file is named after.
 *
 * @throws {UsageError} `usage.sheet` where two of them differ.
 */
export function kindOfSheet(
  kinds: readonly string[],
  {
    chosen,
    sheet,
    file,
  }: { readonly chosen?: string | undefined; readonly sheet?: string | undefined; readonly file: string },
): string | undefined {
  const shown = {
    'the choice': chosen,
    'the sheet': kindInName(kinds, sheet),
    'the file': kindInName(kinds, file),
  };
  const found = Object.entries(shown).filter(([, kind]) => kind !== undefined);
  const [[first = '', kind] = [], ...others] = found;
  const [second, other] = others.find(([, each]) => each !== kind) ?? [];
  if (other === undefined) return kind;
  throw new UsageError(`By ${first} it has ${kind}, by the name of ${second} ${other}.`, {
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
