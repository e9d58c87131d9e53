import * as z from 'zod';
import { isObject, type Json, type JsonObject } from '../lib/json/json.ts';
import { wholeNumber } from '../operations/inputs.ts';

/** Where a page of a list begins, as in the feed of changes. */
export const afterId = wholeNumber(0)
  .optional()
  .describe('only those with a higher id, in the order of their ids; 0 begins; without it, the latest');

export const nextId = z
  .int()
  .optional()
  .describe('what to give as `after` the next time; only where `after` was given');

/** Where the next page begins; absent if no page was requested. */
export function nextAfter(
  after: number | undefined,
  page: readonly { readonly id: number }[],
): { readonly next?: number } {
  return after === undefined ? {} : { next: page.at(-1)?.id ?? after };
}

/** A JSON object whose numbers keep their digits. */
export const jsonObject = z
  .custom<JsonObject>((value) => isObject(value as Json), 'expected a JSON object')
  .meta({ type: 'object' });

/** Our instants: UTC `YYYY-MM-DD HH:MM:SS.SSS`. */
export const instant = z.string().describe('UTC, YYYY-MM-DD HH:MM:SS.SSS');
