import * as z from 'zod';
import { isObject, type Json, type JsonObject } from './json.ts';

/** A JSON object whose numbers keep their digits. */
export const jsonObject = z
  .custom<JsonObject>((value) => isObject(value as Json), 'expected a JSON object')
  .meta({ type: 'object' });

/** Any JSON; numbers keep their digits. */
export const anyJson = z.custom<Json>(() => true).meta({ description: 'JSON' });

/** Our instants. */
export const instant = z.string().describe('UTC, YYYY-MM-DD HH:MM:SS.SSS');

type Unchanging<T> = T extends object ? { readonly [Name in keyof T]: Unchanging<T[Name]> } : T;

/** What a builder makes of a document's schema. */
export type DocumentOf<Schema extends z.ZodType> = Unchanging<z.output<Schema>>;
