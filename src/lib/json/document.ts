import * as z from 'zod';
import { isObject, type Json, type JsonObject } from './json.ts';

/** A JSON object whose numbers keep their digits. */
export const jsonObject = z
  .custom<JsonObject>((value) => isObject(value as Json), 'expected a JSON object')
  .meta({ type: 'object' });

/** Any JSON; numbers keep their digits. */
export const anyJson: z.ZodType<Json> = z.any().describe('JSON');

/** Our instants. */
export const instant = z.string().describe('UTC, YYYY-MM-DD HH:MM:SS.SSS');

type Unchanging<T> = [Json] extends [T]
  ? T
  : T extends object
    ? { readonly [Name in keyof T]: Unchanging<T[Name]> }
    : T;

/** A document as its builder returns it, by its schema. */
export type DocumentOf<Schema extends z.ZodType> = Unchanging<z.output<Schema>>;

/** Makes a document of the members that its schema names, in their order, without any others. */
export function documentOf<Schema extends z.ZodObject>(
  schema: Schema,
  from: DocumentOf<Schema>,
): DocumentOf<Schema> {
  const values = new Map(Object.entries(from));
  const names = Object.keys(schema.shape).filter((name) => values.has(name));
  return Object.fromEntries(names.map((name) => [name, values.get(name)])) as DocumentOf<Schema>;
}
