import * as z from 'zod';
import type { JsonObject } from '../lib/json/json.ts';
import { placesIn } from './operation.ts';
import type { AnyOperation, OperationParts } from './operation.ts';

/** The schemas of the path and of the body; `more` are further members of the body. */
export function inputOf(operation: AnyOperation, more: z.ZodRawShape = {}) {
  const places = placesIn(operation);
  const members = Object.entries(operation.input.shape);
  const params = z.strictObject(Object.fromEntries(members.filter(([name]) => places.includes(name))));
  const rest = members.filter(([name]) => !places.includes(name));
  const body = z.strictObject({ ...Object.fromEntries(rest), ...more });
  const mayLack = body.safeParse({}).success;
  return { ...(places.length > 0 && { params }), body: mayLack ? body.nullable() : body };
}

interface Parts extends Omit<OperationParts, 'signal'> {
  /** Fires when the server closes. */
  readonly closing: AbortSignal;
  readonly wakeEngine: () => void;
}

/** Carries an operation out with those of its members that are given, and wakes the engine: rows may have become due. */
export async function carryOut(operation: AnyOperation, parts: Parts, given: object): Promise<JsonObject> {
  const known = Object.entries(given).filter(([name]) => name in operation.input.shape);
  const document = await operation.run({ ...parts, signal: parts.closing }, Object.fromEntries(known));
  parts.wakeEngine();
  return document;
}
