import type { Clock } from '../../src/lib/clock.ts';
import type { Random } from '../../src/sandbox/random.ts';
import type { HttpClient } from '../../src/source/http-client.ts';
import { answerOf } from './draft.ts';
import type { Draft, Scene } from './draft.ts';
import { canonical } from './json-reader.ts';
import { mutate } from './mutations/all.ts';
import { readAnswer, rowIdentity } from './reading.ts';
import type { Reading } from './reading.ts';
import { askedFor, honestDraft } from './service.ts';
import type { Asked, Served } from './service.ts';

export const TOKEN = 'canary/7f3a+91=';

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
export class Endless extends Error {}

export function openFire(parts: FireParts): LineOfFire {
  const sparing = createSparing();
  const fire: LineOfFire = {
    exchanges: [],
    rate: 0,
    isReadable: false,
    left: Infinity,
    client: {
      destroy: () => Promise.resolve(),
      get: ({ target }) => {
        if (--fire.left < 0) return Promise.reject(new Endless(`and now ${target}`));
        const { draft, exchange } = answer(parts, target, { ...fire, sparing });
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
  const honest = honestDraft(asked);
  const truth = readingOf(honest);
  const atMs = clock.now().getTime();
  const told = (draft: Draft, reading: Reading, mutation: string | null) => {
    const shown = `${draft.status} ${Buffer.from(answerOf(draft).bytes).toString().slice(0, 1500)}`;
    return { draft, exchange: { ...asked, target, mutation, reading, truth, atMs, shown } };
  };
  // A sweep that breaks off at its first page never meets the faults of the others.
  if (!random.chance(asked.page === 1 ? rate / 3 : rate)) return told(honest, truth, null);
  const { name, draft } = mutate(honest, sceneOf(service, asked, random), isReadable);
  const reading = readingOf(draft);
  return sparing.allows(asked, reading, truth) ? told(draft, reading, name) : told(honest, truth, null);
}

const readingOf = (draft: Draft): Reading => readAnswer(answerOf(draft), draft.isList);

function sceneOf(service: readonly Served[], { served, page }: Asked, random: Random): Scene {
  const all = [...served.records.values()];
  const from = Math.min(page ?? 0, 2) * served.pageSize;
  const elsewhere = Number.isFinite(from) ? [...all.slice(from), ...all] : [...all].reverse();
  const foreign = service.filter((other) => other !== served).flatMap(({ records }) => [...records.values()]);
  return { random, elsewhere, foreign, token: TOKEN };
}

interface Sparing {
  /** Whether an answer is malformed rather than a well-formed part of a conspiracy. */
  allows(asked: Asked, reading: Reading, truth: Reading): boolean;
}

/**
 * Two proofs, a grace apart, are a proof: a service that says twice, in so many words, that a record is gone has lied,
 * and no reader could tell. So each record is spared a second well-formed lie about its being there.
 */
function createSparing(): Sparing {
  const [denied, hidden, unheard] = [new Set<string>(), new Set<string>(), new Map<string, number>()];
  const isOnce = (set: Set<string>, keys: readonly string[]): boolean => {
    if (keys.some((key) => set.has(key))) return false;
    for (const key of keys) set.add(key);
    return true;
  };
  return {
    allows: ({ served, id }, reading, truth) => {
      const { name } = served;
      if (id !== null) {
        unheard.set(name, (unheard.get(name) ?? 0) + 1);
        return reading.is !== 'gone' || truth.is === 'gone' || isOnce(denied, [`${name} ${id}`]);
      }
      const missing = hiddenIds(reading, truth).map((hiddenId) => `${name} ${hiddenId}`);
      // Where records can be asked for one by one, the list alone buries nobody.
      const isSole = name === 'punches' || (unheard.get(name) ?? 0) >= 3;
      if (isSole) return isOnce(hidden, missing);
      for (const key of missing) hidden.add(key);
      return true;
    },
  };
}

/** The ids that the true answer shows and this one does not. */
function hiddenIds(reading: Reading, truth: Reading): string[] {
  const shown = new Set(idsOf(reading));
  return reading.is === 'list' ? idsOf(truth).filter((id) => !shown.has(id)) : [];
}

export function idsOf(reading: Reading): string[] {
  if (reading.is !== 'list') return [];
  return reading.rows.map(rowIdentity).flatMap((identity) => ('id' in identity ? [identity.id] : []));
}

/** Adds every record that answers showed, by kind, as text that is equal for equal records. */
export function noteSent(sent: ReadonlyMap<string, Set<string>>, exchanges: readonly Exchange[]): void {
  for (const { served, reading, truth } of exchanges) {
    const seen = reading.is === 'open' ? truth : reading;
    for (const row of seen.is === 'list' ? seen.rows : []) sent.get(served.name)?.add(canonical(row));
  }
}
