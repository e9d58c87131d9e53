import type { Clock } from '../../src/lib/time/clock.ts';
import type { Random } from '../../sandbox/generate/draw.ts';
import type { HttpClient } from '../../src/source/http/http.ts';
import { canary } from '../support/canary.ts';
import { noWrites } from '../support/no-writes.ts';
import { answerOf, type Draft, type Scene } from './draft.ts';
import { canonical } from './json-reader.ts';
import { mutate } from './mutations/all.ts';
import { readAnswer, type Reading } from './reading.ts';
import { askedFor, honestDraft, textsOf, type Asked, type Served } from './true-answers.ts';
import { createSparing, type Sparing } from './sparing.ts';

export const TOKEN = canary('/7f3a+91=');

/** One request and what it was answered. */
export interface Exchange extends Asked {
  readonly target: string;
  /** The class of its mutation; null where the answer was true. */
  readonly mutation: string | null;
  readonly reading: Reading;
  /** What the true answer says. */
  readonly truth: Reading;
  readonly atMs: number;
  readonly shown: string;
}

/** A service whose answers may be malformed, and all that it has answered. */
export interface LineOfFire {
  readonly client: HttpClient;
  readonly exchanges: Exchange[];
  /** Share of the answers that are malformed. */
  rate: number;
  /** Malformed answers that the pull under way may get yet: after a single one, the rest is true. */
  most: number;
  /** Whether most of them can be read as lists. */
  isReadable: boolean;
  /** Requests that the pull under way may send yet. */
  left: number;
}

export interface FireParts {
  readonly service: readonly Served[];
  readonly random: Random;
  readonly clock: Clock;
}

/** A pull went on asking. */
export class Endless extends Error {
  override readonly name = 'Endless';
}

export function openFire(parts: FireParts): LineOfFire {
  const sparing = createSparing();
  const fire: LineOfFire = {
    exchanges: [],
    rate: 0,
    most: Infinity,
    isReadable: false,
    left: Infinity,
    client: {
      send: noWrites,
      destroy: () => Promise.resolve(),
      get: ({ target }) => {
        if (--fire.left < 0) return Promise.reject(new Endless(`and now ${target}`));
        const { draft, exchange } = answer(parts, target, { ...fire, rate: rateAt(fire, target), sparing });
        if (exchange.mutation !== null) fire.most--;
        fire.exchanges.push(exchange);
        return Promise.resolve(answerOf(draft));
      },
    },
  };
  return fire;
}

interface Aim {
  readonly rate: number;
  readonly isReadable: boolean;
  readonly sparing: Sparing;
}

function answer({ service, random, clock }: FireParts, target: string, { rate, isReadable, sparing }: Aim) {
  const asked = askedFor(service, target);
  const honest = honestDraft(asked, target);
  const truth = readingOf(honest);
  const atMs = clock.now().getTime();
  const withReading = (draft: Draft, reading: Reading, mutation: string | null) => {
    const shown = `${draft.status} ${Buffer.from(answerOf(draft).bytes).toString().slice(0, 1500)}`;
    return { draft, exchange: { ...asked, target, mutation, reading, truth, atMs, shown } };
  };
  if (!random.chance(rate)) return withReading(honest, truth, null);
  const { name, draft } = mutate(honest, sceneOf(service, asked, random), isReadable);
  const reading = readingOf(draft);
  return sparing.allows(asked, reading, truth)
    ? withReading(draft, reading, name)
    : withReading(honest, truth, null);
}

/** A sweep that breaks off at its first page never meets the faults of the others. */
function rateAt({ rate, most }: LineOfFire, target: string): number {
  if (most <= 0) return 0;
  const isFirst = !/[?&]page=(?!1\b)|\/\d+$/.test(target);
  return isFirst && most === Infinity ? rate / 3 : rate;
}

const readingOf = (draft: Draft): Reading => readAnswer(answerOf(draft), draft.isList);

function sceneOf(service: readonly Served[], { served, page }: Asked, random: Random): Scene {
  const all = [...textsOf(served).values()];
  const from = Math.min(page ?? 0, 2) * served.pageSize;
  const elsewhere = from < all.length ? [...all.slice(from), ...all] : [...all].reverse();
  const foreign = service
    .filter((other) => other !== served)
    .flatMap((other) => [...textsOf(other).values()]);
  return { random, elsewhere, foreign, token: TOKEN };
}

/** Adds every record that answers showed, by kind, as text that is equal for equal records. */
export function noteSent(sent: ReadonlyMap<string, Set<string>>, exchanges: readonly Exchange[]): void {
  for (const { served, reading, truth } of exchanges) {
    const seen = reading.is === 'open' ? truth : reading;
    for (const row of seen.is === 'list' ? seen.rows : []) sent.get(served.name)?.add(canonical(row));
  }
}
