import { UsageError } from '../../lib/sync-error.ts';

const MOST_IDS = 1_000_000;
const LARGEST = 2n ** 63n - 1n;

/**
 * Reads a list of ids and ranges of ids, `1,5-9`; each id comes once, in the order written.
 *
 * @throws {UsageError} If a part is neither, or there are too many ids.
 */
export function expandIds(text: string): string[] {
  const ids = new Set<string>();
  for (const part of text.split(',')) {
    const { from, to } = rangeOf(part.trim(), 'an id');
    if (to - from >= BigInt(MOST_IDS - ids.size))
      throw new UsageError(`--ids names more than ${MOST_IDS} records.`, {
        code: 'usage.extent',
        hint: 'Use --all.',
      });
    for (let id = from; id <= to; id++) ids.add(String(id));
  }
  return [...ids];
}

/**
 * Reads a range of pages, `1-20`, or one page.
 *
 * @throws {UsageError} If it is neither.
 */
export function parsePages(text: string): { from: number; to: number } {
  const { from, to } = rangeOf(text.trim(), 'a page');
  return { from: Number(from), to: Number(to) };
}

function rangeOf(text: string, what: string): { from: bigint; to: bigint } {
  const [, first, last = first] = /^([1-9]\d{0,18})(?:-([1-9]\d{0,18}))?$/.exec(text) ?? [];
  const range = { from: BigInt(first ?? 0), to: BigInt(last ?? 0) };
  if (first !== undefined && range.from <= range.to && range.to <= LARGEST) return range;
  throw new UsageError(`"${text}" is neither ${what} nor a range of them.`, {
    code: 'usage.extent',
    hint: 'Examples: 7, 5-9; ids may be listed: 1,5-9.',
  });
}
