import * as z from 'zod';
import { didYouMean } from '../text/nearest-name.ts';
import { formatRfc3339 } from '../time/clock.ts';
import { isArray, isObject, type Json, type JsonObject } from './json.ts';

/** A schema without words of its own names the type that it expects, or lists what it knows, and the nearest to what was typed. */
z.config({
  customError: (issue) => {
    const { code, input } = issue;
    if (code === 'invalid_value') {
      const known = issue.values.map(String);
      return `expected one of ${known.join(', ')}${typeof input === 'string' ? didYouMean(input, known) : ''}`;
    }
    if (code === 'too_big' && issue.origin === 'array') return `expected at most ${issue.maximum} of them`;
    if (code === 'invalid_type')
      return `expected ${/^[aio]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`;
    if (code !== 'unrecognized_keys' || !(issue.inst instanceof z.ZodObject)) return undefined;
    const known = Object.keys(issue.inst.shape);
    const [first = ''] = issue.keys;
    return `unknown: ${issue.keys.join(', ')}; expected ${known.join(', ') || 'none'}${didYouMean(first, known)}`;
  },
});

const anyObject = z.custom<JsonObject>((value) => isObject(value as Json), 'expected a JSON object');

/** Refers to a schema of that name in the description of the API. */
export const named = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** A JSON object of a named schema; numbers keep their digits. */
export const objectNamed = (name: string) => anyObject.meta(named(name));

/** Any JSON; numbers keep their digits. */
export const anyJson: z.ZodType<Json> = z.any().meta(named('Json'));

/** Stored JSON, usually an object of a named schema: an application may have stored other JSON, or text. */
export const storedJson = (name: string): z.ZodType<Json> =>
  z.any().meta({ anyOf: [named(name), named('Json')] });

/** Our instants: texts as the mirror stores them, which `documentOf` writes in RFC 3339. */
export const instant = z.iso.datetime();

type Unchanging<T> = [Json] extends [T]
  ? T
  : T extends object
    ? { readonly [Name in keyof T]: Unchanging<T[Name]> }
    : T;

/** A document as its builder returns it, by its schema. */
export type DocumentOf<Schema extends z.ZodType> = Unchanging<z.output<Schema>>;

/**
 * Makes a document as JSON shows it: the members that its schema names, in their order, and our instants in RFC 3339. A value that
 * its schema does not expect stays as it is: an application writes rows too.
 */
export const documentOf = <Schema extends z.ZodType>(schema: Schema, from: DocumentOf<Schema>) =>
  documentValue(schema, from as Json) as DocumentOf<Schema>;

function documentValue(schema: unknown, value: Json): Json {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional)
    return documentValue(schema.unwrap(), value);
  if (schema instanceof z.ZodISODateTime) return typeof value === 'string' ? formatRfc3339(value) : value;
  if (schema instanceof z.ZodArray && isArray(value))
    return value.map((each) => documentValue(schema.element, each));
  if (!(schema instanceof z.ZodObject) || !isObject(value)) return value;
  const others = schema.def.catchall === undefined ? {} : value; // A loose object keeps them.
  const members = Object.entries(schema.shape).flatMap(([name, member]) => {
    const shown = value[name];
    return shown === undefined ? [] : [[name, documentValue(member, shown)] as const];
  });
  return { ...others, ...Object.fromEntries(members) };
}
