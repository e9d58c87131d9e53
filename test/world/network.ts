import type { HttpClient, SentAnswer } from '../../src/source/http/http.ts';
import type { Random } from '../../sandbox/generate/draw.ts';
import type { Timeline } from './timeline.ts';
import { Killed, type Life } from './watched-session.ts';
import type { Outcome } from './answers.ts';
import type { Request, Service } from './service.ts';

export interface NetworkParts {
  readonly service: Service;
  readonly timeline: Timeline;
  readonly random: Random;
  /** Of the process that asks. */
  readonly life: Life;
  /** The longest time that an answer usually takes. */
  readonly slowestMs: number;
  /** Called for each request as it is read, before it is answered. */
  readonly onRead: (request: Request) => void;
  /** Of the user who may see all. */
  readonly token: string;
  readonly logLine: (line: string) => void;
}

const DEADLINE_MS = 30_000;

/** The way to a world within this process: each request is read at one virtual instant and answered at a later one. */
export function openNetwork(parts: NetworkParts): HttpClient {
  return {
    get: async ({ target, headers }, signal) => {
      const isAfresh = headers['cache-control'] === 'no-cache';
      const request = {
        method: 'GET',
        target,
        body: '',
        isAfresh,
        isOfOther: isOfOther(parts, headers),
      } as const;
      const outcome = await ask(parts, request, signal);
      if (outcome === 'lost' || outcome === 'unreachable')
        throw networkError(signal.aborted ? 'UND_ERR_ABORTED' : 'ECONNRESET');
      return { status: outcome.status, headers: outcome.headers, bytes: Buffer.from(outcome.body) };
    },
    send: async ({ method, target, body, headers, canSend: mayGo }, signal): Promise<SentAnswer> => {
      if (mayGo?.() === false) return { is: 'unsent', why: 'paused' };
      const request = { method, target, body, isOfOther: isOfOther(parts, headers) };
      const outcome = await ask(parts, request, signal);
      if (outcome === 'unreachable') return { is: 'unsent', why: 'ECONNREFUSED' };
      if (outcome === 'lost') return { is: 'lost', why: signal.aborted ? 'interrupted' : 'ECONNRESET' };
      return {
        is: 'answered',
        status: outcome.status,
        headers: outcome.headers,
        bytes: Buffer.from(outcome.body),
      };
    },
    destroy: () => Promise.resolve(),
  };
}

const isOfOther = ({ token }: NetworkParts, headers: Readonly<Record<string, string>>): boolean =>
  !Object.values(headers).includes(`Bearer ${token}`);

/** An error as undici throws it. */
function networkError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** A process may die before it asks, while it waits, and as it hears. */
function ask(parts: NetworkParts, request: Request, signal: AbortSignal): Promise<Outcome> {
  const { service, timeline, random, life, slowestMs, logLine } = parts;
  live(life);
  timeline.stir();
  return new Promise((resolve, reject) => {
    const usualMs = random.chance(0.1) ? random.integer(1, slowestMs * 8) : random.integer(1, slowestMs);
    const readMs = random.integer(0, Math.min(usualMs, DEADLINE_MS - 1));
    let answered: Outcome = 'lost';
    timeline.after(readMs, () => {
      parts.onRead(request);
      answered = service.answer(request, timeline.nowMs());
      logLine(
        `${request.method} ${request.target} ${request.body} → ${typeof answered === 'string' ? answered : `${answered.status} ${answered.body.slice(0, 2_000)}`}`,
      );
      if (request.method !== 'GET' && answered === 'lost' && random.chance(0.5)) hear.delay(DEADLINE_MS);
    });
    const hear = delayed(timeline, usualMs, () => {
      signal.removeEventListener('abort', giveUp);
      timeline.stir();
      if (life.isOver) reject(new Killed());
      else resolve(answered);
    });
    const giveUp = (): void => {
      hear.callOff();
      timeline.stir();
      resolve('lost');
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
}

/** An event that can still be put off, or called off. */
function delayed(
  timeline: Timeline,
  ms: number,
  act: () => void,
): { readonly delay: (byMs: number) => void; readonly callOff: () => void } {
  let callOff = timeline.after(ms, act);
  return {
    delay: (byMs) => {
      callOff();
      callOff = timeline.after(byMs, act);
    },
    callOff: () => {
      callOff();
    },
  };
}

/** One more step of a process, which may be its last. */
function live(life: Life): void {
  if (life.left !== null && --life.left < 0) life.isOver = true;
  if (life.isOver) throw new Killed();
}
