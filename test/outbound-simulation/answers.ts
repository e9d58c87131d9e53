import { networkError } from '../simulation/faults.ts';
import type { SentAnswer } from '../../src/source/http/http.ts';
import type { Random } from '../../src/sandbox/generate/draw.ts';
import type { Fate } from './fates.ts';

/** How the service shows what it has written. */
export type AnswerShape = (typeof ANSWER_SHAPES)[number];

export const ANSWER_SHAPES = ['wrapped', 'array', 'bare', 'id only'] as const;

const SHAPED: Readonly<Record<AnswerShape, (text: string, id: string) => string>> = {
  wrapped: (text) => `{"data":${text},"success":true}`,
  array: (text) => `{"data":[${text}],"success":true}`,
  bare: (text) => text,
  'id only': (_text, id) => `{"data":{"id":${id}},"success":true}`,
};

/** The record as it is now; null where there is none. */
export interface WrittenThere {
  readonly id: string;
  readonly text: string | null;
}

/** What comes back from a write, or an error as the network throws it. */
export function answerTo(
  fate: Fate,
  { id, text }: WrittenThere,
  { shape, random }: { readonly shape: AnswerShape; readonly random: Random },
): SentAnswer {
  const truth = text === null ? NOT_FOUND : SHAPED[shape](text, id);
  const status = text === null ? 404 : 200;
  const answers: Partial<Record<Fate, () => SentAnswer>> = {
    'refused connection': () => ({ is: 'unsent', why: 'ECONNREFUSED' }),
    'dropped before': () => lost(random),
    'dropped after': () => lost(random),
    late: () => lost(random),
    '500 before': () => page(random.pick([500, 502, 504])),
    '500 after': () => page(random.pick([500, 502, 504])),
    '429': () => ({
      ...json(429, '{"message":"Too Many Attempts."}'),
      ...(random.chance(0.5) && { headers: { 'content-type': 'application/json', 'retry-after': '7' } }),
    }),
    '503 before': () => ({ ...page(503), headers: { 'retry-after': '30' } }),
    '503 after': () => ({ ...page(503), headers: { 'retry-after': '30' } }),
    'page of a proxy': () => page(random.pick([401, 403, 413, 429])),
    '422 before': () => json(422, '{"message":"The given data was invalid.","success":false}'),
    '422 after': () => json(422, '{"message":"The given data was invalid.","success":false}'),
    'web page 404': () => page(404),
    'page to sign in': () => page(200),
    'cut body': () => json(200, truth.slice(0, random.integer(1, truth.length - 1))),
    'no id': () =>
      json(200, random.pick(['', '{"success":true}', '{"data":[],"success":true}', '{"data":{}}'])),
    'says failed': () => json(200, '{"message":"Error","success":false}'),
    'redirect after': () => ({ ...page(302), headers: { location: '/login' } }),
  };
  return answers[fate]?.() ?? json(status, truth);
}

const NOT_FOUND = '{"message":"Not found.","success":false}';

const json = (status: number, body: string): SentAnswer => ({
  ...{ is: 'answered', status, bytes: Buffer.from(body) },
  headers: { 'content-type': 'application/json' },
});

const page = (status: number): SentAnswer & { is: 'answered' } => ({
  ...{ is: 'answered', status, headers: { 'content-type': 'text/html' } },
  bytes: Buffer.from(`<!doctype html><title>${status}</title>`),
});

/** A token that may not write here. */
export const refused = (): SentAnswer => json(401, '{"message":"Unauthenticated.","success":false}');

const lost = (random: Random): SentAnswer => ({
  is: 'lost',
  why: random.pick(['ECONNRESET', 'timeout', 'UND_ERR_SOCKET']),
});

export const aborted = (): Error => networkError('UND_ERR_ABORTED');
