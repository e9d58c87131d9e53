import type { ListedKind } from '../../src/catalog/kind.ts';
import { blankRecord } from '../../sandbox/generate/from-catalogue.ts';
import { randomFrom, type Random } from '../../sandbox/generate/draw.ts';
import type { Answer, Outcome } from './answers.ts';
import { beginLasting, createLasting, type Lasting } from './lasting.ts';
import type { Outage } from './lateness.ts';
import type { Lie } from './lies.ts';
import { read } from './reads.ts';
import { createRecords, type Content, type Records } from './records.ts';
import { secretsOf, type Secrets } from './secrets.ts';
import { allTexts, defaults, storedFields } from './stored.ts';
import type { Personality } from './traits.ts';
import { write } from './writes.ts';

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Path and query. */
  readonly target: string;
  readonly body: string;
  /** Nothing that a cache has kept is wanted. */
  readonly isAfresh?: boolean;
  /** It is asked for with the token of another user, who may see less. */
  readonly isOfOther?: boolean;
}

/** A write that has reached the service, or the network before it. */
export interface Send {
  readonly number: number;
  readonly kind: string;
  readonly operation: 'create' | 'update';
  /** Of the record to update; empty for a create. */
  readonly id: string;
  readonly body: string;
  readonly atMs: number;
  /** When the service did it, and to which record. */
  committed: { readonly atMs: number; readonly id: string } | null;
  /** How it was answered. */
  outcome: 'answered' | 'lost' | 'unreachable' | 'refused' | 'put off';
}

/** One service: deterministic from its personality and its seed, and without a clock of its own. */
export interface Service {
  readonly personality: Personality;
  readonly records: ReadonlyMap<string, Records>;
  readonly sends: readonly Send[];
  /** Pages that a cache has shown although a row had been deleted since. */
  readonly stalePages: readonly { readonly kind: string; readonly atMs: number }[];
  /** Answers a request that is read at an instant; instants never go back. */
  answer(request: Request, atMs: number): Outcome;
  /** Carries out what was put off until then: before anything else is done to its records. */
  advance(atMs: number): void;
  /** From now on no answer is lost, refused, spoilt or put off. */
  calm(): void;
  /** Takes that back. */
  rouse(): void;
  /** The trouble that outlasts patience begins, and ends. */
  begin(atMs: number, untilMs: number): void;
  /** Of a kind, the records that are forbidden alone, or that no list shows. */
  apart(kind: string): ReadonlySet<string>;
  /** What it answers for a single record that lists do not show. */
  readonly unseen: Lasting['unseen'];
  /** The records of a kind that those without rights do not see. */
  readonly hides: (kind: string) => ReadonlySet<string>;
}

export interface ServiceOptions {
  readonly seed: number;
  readonly personality: Personality;
  readonly kinds: readonly ListedKind[];
  /** Records of each kind to begin with. */
  readonly rows: number;
  /** What every record shows in some field. */
  readonly secrets: Secrets;
  /** The body of a create that makes one of those. */
  readonly seedRecord: (kind: ListedKind, number: number) => Content;
  /** Until it is calm. */
  readonly lie?: Lie;
}

/** A service from within. */
export interface Inside {
  readonly personality: Personality;
  readonly random: Random;
  readonly kinds: readonly ListedKind[];
  readonly records: ReadonlyMap<string, Records>;
  readonly sends: Send[];
  readonly putOff: PutOff[];
  readonly stalePages: { readonly kind: string; readonly atMs: number }[];
  /** The last answer to each path. */
  readonly kept: Map<string, { readonly atMs: number; readonly answer: Answer }>;
  readonly lie: Lie | null;
  readonly lasting: Lasting;
  readonly outage: Outage;
  /** The maximum lag of replicas. */
  readonly lagMs: number;
  /** When pages change their size. */
  readonly changedMs: number;
  isCalm: boolean;
}

interface PutOff {
  readonly atMs: number;
  readonly act: () => void;
}

const MINUTE = 60_000;
/** Long ago, so that the most lagging replica shows what was there before. */
const BEFORE_MS = -24 * 60 * MINUTE;

export function createService(options: ServiceOptions): Service {
  const { seed, personality, kinds } = options;
  const random = randomFrom('service', seed);
  const records = firstRecords(options, random);
  const inside: Inside = {
    personality,
    random,
    kinds,
    records,
    lasting: createLasting(personality, records, randomFrom('lasting service', seed)),
    outage: { fromMs: Infinity, untilMs: Infinity },
    sends: [],
    putOff: [],
    stalePages: [],
    kept: new Map(),
    lagMs: random.integer(1, 60) * 1_000,
    changedMs: random.integer(5, 60) * MINUTE,
    lie: options.lie ?? null,
    isCalm: false,
  };
  const advance = (atMs: number): void => {
    inside.putOff.sort((a, b) => a.atMs - b.atMs);
    while ((inside.putOff[0]?.atMs ?? Infinity) <= atMs) inside.putOff.shift()?.act();
  };
  return {
    personality,
    records: inside.records,
    sends: inside.sends,
    stalePages: inside.stalePages,
    advance,
    answer: (request, atMs) => {
      advance(atMs);
      inside.lasting.seesAll = personality.token !== 'one user’s' && request.isOfOther !== true;
      return request.method === 'GET' ? read(inside, request, atMs) : write(inside, request, atMs);
    },
    calm: () => {
      inside.isCalm = true;
    },
    rouse: () => {
      inside.isCalm = false;
    },
    begin: (fromMs, untilMs) => {
      beginLasting(inside, fromMs, untilMs);
    },
    unseen: inside.lasting.unseen,
    hides: (kind) => inside.lasting.hidden.get(kind) ?? new Set(),
    apart: (kind) => inside.lasting.apart.get(kind) ?? new Set(),
  };
}

function firstRecords(options: ServiceOptions, random: Random): ReadonlyMap<string, Records> {
  const { personality, kinds, rows, secrets, seedRecord } = options;
  const all = new Map<string, Records>();
  for (const kind of kinds) {
    const blank = { ...blankOf(kind), ...defaults(kind, personality), ...secretsOf(kind, secrets) };
    const records = createRecords({ kind, blank, random, ids: personality.ids });
    for (let row = 0; row < rows; row++) {
      // Where blanks are left out, one record shows that a field is there at all.
      const all = row === 0 && personality.blanks !== 'shown' ? allTexts(kind) : {};
      const body = { ...all, ...seedRecord(kind, row) };
      records.create(storedFields(kind, body, personality), BEFORE_MS, 'before');
    }
    all.set(kind.name, records);
  }
  return all;
}

const SYSTEM = 41;

/** A record without input, in the documented fields: others would become columns, which one mirror keeps for all histories. */
export function blankOf(kind: ListedKind): Content {
  return JSON.parse(JSON.stringify(blankRecord({ ...kind, hints: [] }, SYSTEM))) as Content;
}

export function recordsOf({ records }: Pick<Inside, 'records'>, name: string): Records {
  const found = records.get(name);
  if (found === undefined) throw new TypeError(`Nothing is served of ${name}.`);
  return found;
}
