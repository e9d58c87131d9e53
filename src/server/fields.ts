import * as z from 'zod';
import { isListed } from '../catalog/kind.ts';
import type { Kind } from '../catalog/kind.ts';
import { wholeText } from '../lib/json/decimal.ts';
import { isNumber, isObject } from '../lib/json/json.ts';
import type { Json, JsonObject } from '../lib/json/json.ts';
import { SyncError, UsageError } from '../lib/sync-error.ts';
import { didYouMean } from '../lib/text/nearest-name.ts';

/** A whole number in a path or a query. */
export const wholeNumber = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  z.coerce.number<string>().int().min(minimum).max(maximum);

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

/** Our own number of an entry or a run, in a path. */
export const rowId = z.strictObject({ id: wholeNumber(1).describe('number of the entry or the run') });

const LARGEST_ID = 2n ** 63n - 1n;

/** The id of a record, a text because a JS number does not hold all ids exactly. */
export const recordId = z
  .string()
  .regex(/^[1-9][0-9]{0,18}$/, { error: 'expected a whole number from 1', abort: true })
  .refine((text) => BigInt(text) <= LARGEST_ID, `expected at most ${LARGEST_ID}`)
  .describe('id of a record');

/** The same in a body, where it may be a number too. */
export const recordIdOrNumber = z
  .custom<Json>(
    (value) => typeof value === 'string' || isNumber(value as Json),
    'expected the id of a record',
  )
  .transform((value) => (typeof value === 'string' ? value : isNumber(value) ? wholeText(value) : null))
  .pipe(recordId)
  .meta({ anyOf: [{ type: 'integer', minimum: 1 }, { type: 'string' }] });

/** The name of one of these kinds; the routes refuse others, and list the known ones. */
export const kindName = (kinds: readonly Pick<Kind, 'name'>[]) =>
  z
    .string()
    .max(100)
    .meta({ description: 'name of a record kind', enum: kinds.map(({ name }) => name) });

/** A JSON object whose numbers keep their digits. */
export const jsonObject = z
  .custom<JsonObject>((value) => isObject(value as Json), 'expected a JSON object')
  .meta({ type: 'object' });

/** The body of a request that needs none. */
export const noBody = z.strictObject({}).nullable();

/** Our instants: UTC `YYYY-MM-DD HH:MM:SS.SSS`. */
export const instant = z.string().describe('UTC, YYYY-MM-DD HH:MM:SS.SSS');

const namesOf = (kinds: readonly Kind[]): readonly string[] => kinds.map(({ name }) => name);

const noSuchKind = (kinds: readonly Kind[], name: string): string =>
  `There is no such record kind${didYouMean(name, namesOf(kinds)) || '.'}`;

/** @throws {SyncError} `record.unknown_kind` if a path names an unknown kind. */
export function requireKind(kinds: readonly Kind[], name: string): Kind {
  const kind = kinds.find((known) => known.name === name);
  if (kind !== undefined) return kind;
  throw new SyncError(noSuchKind(kinds, name), { code: 'record.unknown_kind', hint: listOf(kinds) });
}

/** @throws {UsageError} `usage.kind` if a query names an unknown kind. */
export function checkKind(kinds: readonly Kind[], name: string | undefined): void {
  if (name === undefined || kinds.some((known) => known.name === name)) return;
  throw new UsageError(noSuchKind(kinds, name), { code: 'usage.kind', hint: listOf(kinds) });
}

/**
 * The kinds of a pull, each once; none named means all that have a list.
 *
 * @throws {UsageError} `usage.kind` for an unknown kind, or a kind without a list.
 */
export function pulledKinds(kinds: readonly Kind[], names: readonly string[]): readonly string[] {
  const listed = kinds.filter(isListed);
  const wanted = names.length === 0 ? namesOf(listed) : [...new Set(names)];
  const wrong = wanted.find((name) => !namesOf(listed).includes(name));
  if (wrong === undefined) return wanted;
  const meant = didYouMean(wrong, namesOf(listed)) || '.';
  throw new UsageError(`Not all of these are record kinds with a list${meant}`, {
    code: 'usage.kind',
    hint: listOf(listed),
  });
}

const listOf = (kinds: readonly Kind[]): string => `The kinds are: ${namesOf(kinds).join(', ')}.`;
