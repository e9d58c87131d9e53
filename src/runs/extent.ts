import { isListed, isRetrievable, type Kind } from '../catalog/kind.ts';
import { UsageError } from '../lib/sync-error.ts';
import type { Extent } from '../pull/sweep/backfill.ts';

const IDS = '--ids ';
const PAGES = '--pages ';

/** Reads the extent of a backfill as a run stores it: `--ids 1,5-9`, `--pages 1-20` or `--all`. @throws {UsageError} `usage.extent` */
export function parseExtent(request: string): Extent {
  if (request.startsWith(IDS)) return { ids: expandIds(request.slice(IDS.length), MAX_READ) };
  if (!request.startsWith(PAGES)) return { pages: { from: 1, to: Infinity } };
  const { from, to } = rangeOf(request.slice(PAGES.length).trim(), 'a page');
  return { pages: { from: Number(from), to: Number(to) } };
}

/**
 * Writes an extent as a run stores it, and checks it.
 * @throws {UsageError} `usage.extent` if not exactly one part is given, or it is invalid; `usage.kind` for a list that there is not.
 */
export function writeExtent(
  kind: Kind,
  { ids, pages, all }: { ids?: string | undefined; pages?: string | undefined; all?: boolean | undefined },
): string {
  const hint = `For example: bms-sync backfill ${kind.name} --ids 1,5-9`;
  if ([ids !== undefined, pages !== undefined, all === true].filter(Boolean).length !== 1)
    throw new UsageError('Use exactly one of ids, pages and all.', { code: 'usage.extent', hint });
  if (!isListed(kind) && !(ids !== undefined && isRetrievable(kind)))
    throw new UsageError(`The service has no list of ${kind.name}: it is read one record at a time.`, {
      code: 'usage.kind',
      hint,
    });
  const request = ids !== undefined ? `${IDS}${ids}` : pages !== undefined ? `${PAGES}${pages}` : '--all';
  parseExtent(request);
  return request;
}

/** More records are read by pages, or with the whole list. */
const MAX_READ = 10_000;
const MAX_IDS = 1_000_000;
const LARGEST = 2n ** 63n - 1n;

/**
 * Reads a list of ids and ranges of ids, `1,5-9`; each id comes once, in the order written.
 * @throws {UsageError} If a part is neither, or there are too many ids.
 */
export function expandIds(text: string, most = MAX_IDS): string[] {
  const ids = new Set<string>();
  for (const part of text.split(',')) {
    const { from, to } = rangeOf(part.trim(), 'an id');
    const message = `The ids name more than ${most} records.`;
    if (to - from >= BigInt(most - ids.size))
      throw new UsageError(message, {
        code: 'usage.extent',
        hint: 'Use several lists of ids, or pages or all.',
      });
    for (let id = from; id <= to; id++) ids.add(String(id));
  }
  return [...ids];
}

/** Reads a range, `1-20`, or one number. @throws {UsageError} If it is neither. */
function rangeOf(text: string, what: string): { from: bigint; to: bigint } {
  const [, first, last = first] = /^([1-9]\d{0,18})(?:-([1-9]\d{0,18}))?$/.exec(text) ?? [];
  const range = { from: BigInt(first ?? 0), to: BigInt(last ?? 0) };
  if (first !== undefined && range.from <= range.to && range.to <= LARGEST) return range;
  throw new UsageError(`"${text}" is neither ${what} nor a range of them.`, {
    code: 'usage.extent',
    hint: 'Examples: 7, 5-9; ids may be listed: 1,5-9.',
  });
}
