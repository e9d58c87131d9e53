import type { HttpAnswer } from '../../src/source/http/http.ts';
import type { Random } from '../../src/sandbox/generate/draw.ts';
import { nothingThere } from './service.ts';

/** What goes wrong on the way, and how often. */
export interface FaultPlan {
  /** Share of the requests that meet a fault which may pass: a lost connection, a bad status, a wait without end. */
  readonly passing: number;
  /** Share of the requests answered with nonsense: a web page, half a body, `success: false`, a refusal. */
  readonly nonsense: number;
}

const PASSING = ['lost', 'lost after reading', 'timeout', '500', '502', '503', '429'] as const;
const NONSENSE = ['web page', 'half a body', 'success false', 'not for you', 'empty body'] as const;
export type Fault = (typeof PASSING)[number] | (typeof NONSENSE)[number];

export function drawFault(random: Random, { passing, nonsense }: FaultPlan): Fault | null {
  if (random.chance(passing)) return random.pick(PASSING);
  return random.chance(nonsense) ? random.pick(NONSENSE) : null;
}

/** What comes back instead of the true answer. */
export function meet(fault: Fault | null, truth: () => HttpAnswer, random: Random): HttpAnswer | Error {
  return fault === null ? truth() : OUTCOMES[fault](truth, random);
}

type Outcome = (truth: () => HttpAnswer, random: Random) => HttpAnswer | Error;

const lost: Outcome = (_truth, random) =>
  networkError(random.pick(['ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE']));
const busy =
  (status: number): Outcome =>
  (_truth, random) => ({ ...webPage(status), headers: random.chance(0.5) ? { 'retry-after': '3' } : {} });

const OUTCOMES: Readonly<Record<Fault, Outcome>> = {
  lost,
  'lost after reading': lost,
  timeout: (_truth, random) => networkError(random.pick(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])),
  '500': () => webPage(500),
  '502': () => webPage(502),
  '503': busy(503),
  '429': busy(429),
  'web page': () => webPage(200),
  'half a body': (truth, random) => halved(truth(), random),
  'success false': () => ({ ...nothingThere(), status: 200 }),
  'not for you': () => ({ ...nothingThere(), status: 403 }),
  'empty body': () => ({ status: 200, headers: {}, bytes: new Uint8Array() }),
};

function webPage(status: number): HttpAnswer {
  const page = `<!doctype html><title>${status}</title>`;
  return { status, headers: { 'content-type': 'text/html' }, bytes: Buffer.from(page) };
}

function halved(answer: HttpAnswer, random: Random): HttpAnswer {
  return { ...answer, bytes: answer.bytes.subarray(0, random.integer(1, answer.bytes.length - 1)) };
}

/** An error as undici throws it. */
export function networkError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
