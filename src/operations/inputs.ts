import * as z from 'zod';
import { findKind } from '../catalog/find-kind.ts';
import { isListed, type Kind } from '../catalog/kind.ts';
import { wholeNumberText } from '../lib/json/decimal.ts';
import { isNumber, type Json } from '../lib/json/json.ts';

/** A whole number, also as the text of a path, a query or a command line. */
export const wholeNumber = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  z.coerce.number<string>(WHOLE).int(WHOLE).min(minimum).max(maximum);

const WHOLE = 'expected a whole number';

/** Our own number of an entry or a run. */
export const rowPath = z.strictObject({ id: wholeNumber(1).describe('number, as the list shows it') });

/** Whether something is asked for, also as the text of a form. */
export const flag = z.boolean().or(z.stringbool()).optional();

const LARGEST_ID = 2n ** 63n - 1n;

/** The id of a record, a text because a JS number does not hold all ids exactly. */
export const recordIdText = z
  .string()
  .regex(/^[1-9][0-9]{0,18}$/, { error: 'expected a whole number from 1', abort: true })
  .refine((text) => BigInt(text) <= LARGEST_ID, 'expected at most 9223372036854775807')
  .describe('id of a record');

/** A value of a filter; an empty one, as a form sends it, filters nothing. */
export const filterValue = z
  .string()
  .max(100)
  .optional()
  .transform((value) => (value === '' ? undefined : value));

/** Filters of change events, as `eventsOf` takes them. */
export const changeFilters = {
  kind: filterValue.describe('only events of this kind'),
  record: filterValue.pipe(recordIdText.optional()).describe('only events of the record with this id'),
  from: filterValue.describe('only events since this day, in the zone of the schedules: 2026-03-01'),
  to: filterValue.describe('only events until this day, which is included'),
};

/** The same in a body, where it may be a number too. */
export const recordIdOrNumber = z
  .custom<Json>(
    (value) => typeof value === 'string' || isNumber(value as Json),
    'expected the id of a record',
  )
  .transform((value) => (typeof value === 'string' ? value : isNumber(value) ? wholeNumberText(value) : null))
  .pipe(recordIdText)
  .meta({ anyOf: [{ type: 'integer', minimum: 1 }, { type: 'string' }], description: 'id of a record' });

/** The name of a kind; `requireKind` finds the kind. */
export const kindText = z.string().max(100).describe('name of a record kind');

/** The name of one of these kinds; the routes refuse others, and list the known ones. */
export const knownKindName = (kinds: readonly Kind[]) =>
  kindText.meta({ description: 'name of a record kind', enum: kinds.map((kind) => kind.name) });

/** @throws {UsageError} `record.unknown_kind`. */
export const requireKind = (kinds: readonly Kind[], name: string): Kind =>
  findKind(kinds, name, { code: 'record.unknown_kind' });

/** @throws {UsageError} `usage.kind` if a filter names an unknown kind. */
export function checkKind(kinds: readonly Kind[], name: string | undefined): void {
  if (name !== undefined) findKind(kinds, name);
}

/**
 * The kinds of a pull, each once; none named means all that have a list.
 *
 * @throws {UsageError} `usage.kind` for an unknown kind, or a kind without a list.
 */
export function pulledKinds(kinds: readonly Kind[], names: readonly string[]): readonly string[] {
  const listed = kinds.filter(isListed);
  const wanted = names.length === 0 ? listed : [...new Set(names)].map((name) => findKind(listed, name));
  return wanted.map((kind) => kind.name);
}
