import { YAMLParseError, parse } from 'yaml';
import * as z from 'zod';
import { compactJson, type Json } from '../src/lib/json/json.ts';
import { UsageError } from '../src/lib/sync-error.ts';
import { SERVED_KINDS } from './served-kinds.ts';
import { readObject, type ServiceRequest } from './service.ts';

/** Changes that a service may silently make to every text that it gets. */
const TEXT_HABITS = ['spaces', 'upper', 'html', 'first20'] as const;
type TextHabit = (typeof TEXT_HABITS)[number];

const count = z.int().min(0);
const status = z.int().min(200).max(599);
const more = {
  retryAfter: z.string().optional(),
  body: z.string().optional(),
  location: z.string().optional(),
};

const action = z.union(
  [
    z.strictObject({ latencyMs: count }),
    z.strictObject({ status, ...more }),
    z.strictObject({ statusAfter: status, ...more }),
    z.strictObject({ commitAfterMs: count }),
    z.strictObject({ holdMs: count }),
    z.strictObject({ ignoreFields: z.array(z.string()).min(1) }),
    z.strictObject({ storesText: z.enum(TEXT_HABITS) }),
    z.strictObject({ leavesOut: z.union([z.literal('blanks'), z.array(z.string()).min(1)]) }),
    z.strictObject({ drop: z.enum(['before', 'after']) }),
    z.strictObject({ truncate: count }),
    z.strictObject({ cut: count }),
    z.strictObject({ html: z.literal(true) }),
    z.strictObject({ successFalse: z.literal(true) }),
    z.strictObject({ ignorePage: z.literal(true) }),
    z.strictObject({ clampPerPage: count.min(1) }),
    z.strictObject({ redirect: z.url() }),
    z.strictObject({ refuse: z.literal(true) }),
  ],
  {
    error:
      'must be exactly one of {latencyMs: n}, {status: n, retryAfter?, body?, location?}, {statusAfter: n, …}, ' +
      '{commitAfterMs: n}, {holdMs: n}, {drop: before|after}, {truncate: n}, {cut: n}, {html: true}, ' +
      `{successFalse: true}, {ignorePage: true}, {clampPerPage: n}, {ignoreFields: [names]}, ` +
      `{storesText: ${TEXT_HABITS.join('|')}}, {leavesOut: blanks|[names]}, {redirect: URL}, {refuse: true}`,
  },
);

const faultSchema = z.strictObject({
  /** The requests that it applies to; absent, every request. */
  on: z
    .strictObject({
      kind: z.enum(SERVED_KINDS.map(({ name }) => name)).optional(),
      method: z.string().optional(),
      id: z.string().optional(),
      page: count.min(1).optional(),
    })
    .optional(),
  /** The number of matching requests that are let through first. */
  skip: count.optional(),
  /** How many requests it affects; default: all. */
  times: count.optional(),
  do: action,
});

export type Fault = z.infer<typeof faultSchema>;
export type FaultAction = Fault['do'];

/**
 * Reads a list of faults from YAML or JSON.
 *
 * @throws {UsageError} If the text is neither, or a fault is invalid; the message names every place.
 */
export function parseFaults(text: string): readonly Fault[] {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    throw new UsageError(`The list of faults is neither YAML nor JSON: ${error.message}`, {
      code: 'sandbox.faults',
      cause: error,
    });
  }
  const result = z.array(faultSchema).safeParse(value);
  if (result.success) return result.data;
  const places = result.error.issues.map((issue) => `${placeText(issue.path)}: ${issue.message}`);
  throw new UsageError(`The list of faults cannot be used:\n  ${places.join('\n  ')}`, {
    code: 'sandbox.faults',
    hint: 'A fault reads {on: {kind, method, id, page}, skip, times, do: {…}}; only `do` is required.',
  });
}

/** `[1, 'do']` → `fault 2, do` (numbered from one). */
function placeText([index, ...path]: readonly PropertyKey[]): string {
  if (typeof index !== 'number') return 'the list';
  return [`fault ${index + 1}`, path.map(String).join('.')].filter((part) => part !== '').join(', ');
}

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const STORED: Readonly<Record<TextHabit, (text: string) => string>> = {
  spaces: (text) => text.replace(/\s+/g, ' '),
  upper: (text) => text.toUpperCase(),
  html: (text) => text.replace(/[&<>"]/g, (sign) => HTML[sign] ?? sign),
  first20: (text) => Array.from(text).slice(0, 20).join(''),
};

/** The request without these fields of its body, by the names of a write. */
export function withoutFields(request: ServiceRequest, names: readonly string[]): ServiceRequest {
  return withMembers(request, (members) => members.filter(([name]) => !names.includes(name)));
}

/** The request with every text of its body as the service would store it. */
export function withTextHabit(request: ServiceRequest, habit: TextHabit): ServiceRequest {
  const stored = (value: Json): Json => (typeof value === 'string' ? STORED[habit](value) : value);
  return withMembers(request, (members) => members.map(([name, value]) => [name, stored(value)]));
}

/** The service itself refuses a body that is not a JSON object. */
function withMembers(
  request: ServiceRequest,
  bend: (members: [string, Json][]) => readonly (readonly [string, Json])[],
): ServiceRequest {
  const body = readObject(request.body);
  if (body === null) return request;
  return { ...request, body: compactJson(Object.fromEntries(bend(Object.entries(body)))) };
}
