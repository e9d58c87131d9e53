import * as z from 'zod';
import { wholeNumber } from '../operations/inputs.ts';

/** Where a page of a list begins, as in the feed of changes. */
export const afterId = wholeNumber(0)
  .optional()
  .describe('only those with a higher id, in the order of their ids; 0 begins; without it, the latest');

export const nextId = z.int().optional().describe('the next value of `after`; only where `after` was given');

/** Where the next page begins; absent if no page was requested. */
export function nextAfter(
  after: number | undefined,
  page: readonly { readonly id: number }[],
): { readonly next?: number } {
  return after === undefined ? {} : { next: page.at(-1)?.id ?? after };
}
