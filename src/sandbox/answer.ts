import { compactJson } from '../lib/json/json.ts';
import type { Json } from '../lib/json/json.ts';

/** An answer of the service as data, so that a fault can bend it before it is sent. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** How much arrives: the whole answer, its first bytes before the socket closes, or nothing. */
  readonly arrives: 'whole' | 'not at all' | { readonly bytes: number };
}

export function jsonAnswer(status: number, value: Json): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: compactJson(value),
    arrives: 'whole',
  };
}

/** The body of an error is not documented (§7): this is what the envelopes of §2.1 suggest. */
export const failure = (status: number, message: string): Answer =>
  jsonAnswer(status, { success: false, message });
