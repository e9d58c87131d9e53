import { compactJson } from '../lib/json/json.ts';
import type { Json, JsonObject } from '../lib/json/json.ts';
import { readObject } from './service.ts';
import type { ServiceRequest } from './service.ts';

/** Changes that a service may silently make to every text that it gets. */
export const TEXT_HABITS = ['trim', 'spaces', 'upper', 'plainLetters', 'html', 'first20'] as const;
type TextHabit = (typeof TEXT_HABITS)[number];

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const STORED: Readonly<Record<TextHabit, (text: string) => string>> = {
  trim: (text) => text.trim(),
  spaces: (text) => text.replace(/\s+/g, ' '),
  upper: (text) => text.toUpperCase(),
  plainLetters: (text) => text.normalize('NFD').replace(/\p{Mark}/gu, ''),
  html: (text) => text.replace(/[&<>"]/g, (sign) => HTML[sign] ?? sign),
  first20: (text) => Array.from(text).slice(0, 20).join(''),
};

/** The request without these fields of its body, by the names of a write. */
export function withoutFields(request: ServiceRequest, names: readonly string[]): ServiceRequest {
  return withBody(request, (body) => entriesOf(body).filter(([name]) => !names.includes(name)));
}

/** The request with every text of its body as the service would store it. */
export function textsAs(request: ServiceRequest, habit: TextHabit): ServiceRequest {
  const stored = (value: Json): Json => (typeof value === 'string' ? STORED[habit](value) : value);
  return withBody(request, (body) => entriesOf(body).map(([name, value]) => [name, stored(value)]));
}

type Entry = readonly [string, Json];

const entriesOf = (body: JsonObject): readonly Entry[] => Object.entries(body);

/** The service itself refuses a body that is not a JSON object. */
function withBody(request: ServiceRequest, bend: (body: JsonObject) => readonly Entry[]): ServiceRequest {
  const body = readObject(request.body);
  return body === null ? request : { ...request, body: compactJson(Object.fromEntries(bend(body))) };
}
