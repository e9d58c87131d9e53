import { withoutAccents } from '../vocabulary/words.ts';

interface NamedCode {
  readonly code: string;
  /** The name that the code is taken from; null for a bare number. */
  readonly name: string | null;
}

const SHARE_OF_NUMBERS = 0.1;

/** Makes the codes of a list that is sorted by them: some bare numbers with leading zeros, then names from A to Z. */
export function codesFrom(names: readonly string[]): (rank: number, count: number) => NamedCode {
  const sorted = names
    .map((name) => ({ name, prefix: prefixOf(name) }))
    .sort((a, b) => (a.prefix < b.prefix ? -1 : 1));

  return (rank, count) => {
    const number = String(rank + 1).padStart(Math.max(4, String(count).length), '0');
    const numbers = Math.ceil(count * SHARE_OF_NUMBERS);
    const chosen = sorted[Math.floor(((rank - numbers) * sorted.length) / (count - numbers))];
    if (rank < numbers || !chosen) return { code: `00${number}`, name: null };
    return { code: chosen.prefix + number, name: chosen.name };
  };
}

const prefixOf = (name: string): string =>
  withoutAccents(name)
    .replace(/[^a-z]/gi, '')
    .slice(0, 4)
    .toUpperCase();
