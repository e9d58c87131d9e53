import { randomFrom } from '../../sandbox/generate/draw.ts';
import { bodiesOf, kindOf } from '../world/bodies.ts';
import { serveWorld } from '../world/http-front.ts';
import type { Listening } from '../support/listening.ts';

import { isListAt } from '../world/mirror-truths.ts';
import { isOurs, type Records } from '../world/records.ts';
import { NO_SECRETS } from '../world/secrets.ts';
import { createService, type Send } from '../world/service.ts';
import { storedFields } from '../world/stored.ts';
import { DOCUMENTED, type Personality } from '../world/traits.ts';
import { PACE } from './clock.ts';

/** Lists that people change in the service's own screens all the time. */
export const MOVING_KINDS = ['clients', 'products', 'categories', 'projects'] as const;
const KINDS = MOVING_KINDS.map(kindOf);

/** Nearly everything that may go wrong with an honest service. */
const UNKIND: Personality = {
  ...DOCUMENTED,
  texts: 'trimmed',
  fields: 'defaults filled in',
  ids: 'with gaps',
  shown: 'partly',
  lost: 'before or after',
  commit: 'minutes later',
  replica: 'lists lag',
  refusal: 'as HTML of an intermediary',
  refusedWith: '503',
  refusedWhen: 'before or after',
  retryAfter: 'a date',
  reads: 'sometimes refused',
  pageSize: '25 rows',
  total: 'a moment old',
};

/** What a mirror says of a list: that these were its records. */
export interface Certificate {
  readonly kind: string;
  /** In milliseconds of the calendar, since it began. */
  readonly atMs: number;
  readonly ids: readonly string[];
}

/** A service over HTTP, the people who use it, and the truth of what it went through. */
export interface Life extends Listening {
  /** One change by a person: a record is made, changed or removed. */
  readonly act: () => void;
  /** Removes records that we made long ago, so that lists stay as long as they are. */
  readonly tidy: () => void;
  /** Creates whose record the service made while it still had the one before. */
  readonly doubled: () => readonly string[];
  /** Whether a list was never like that: from some hours before the certificate on. */
  readonly isFalse: (certificate: Certificate) => boolean;
  readonly wasRemoved: (kind: string, id: string) => boolean;
}

const HOUR = 3_600_000;
/** Longer than a sweep takes with all its tries, and what a replica lags. */
const WINDOW_MS = 12 * HOUR;
/** Longer than the patience with a lost answer: by then an entry has ended. */
const OURS_STAY_MS = 4 * 24 * HOUR;

export async function startLife(seed: number, rows: number, beganMs: number): Promise<Life> {
  const random = randomFrom('people', seed);
  const nowMs = (): number => (Date.now() - beganMs) * PACE;
  const service = createService({
    seed,
    personality: UNKIND,
    kinds: KINDS,
    rows,
    secrets: NO_SECRETS,
    seedRecord: (kind, number) => bodiesOf(kind).create(1_000_000 + number, random),
  });
  const front = await serveWorld(service, nowMs);
  const recordsOf = (kind: string): Records => {
    const records = service.records.get(kind);
    if (records === undefined) throw new TypeError(`Nothing is served of ${kind}.`);
    return records;
  };
  let acts = 0;
  const act = (): void => {
    const kind = random.pick(KINDS);
    const records = recordsOf(kind.name);
    const atMs = nowMs();
    service.advance(atMs);
    const foreign = records.at(atMs).filter(({ id }) => !isOurs(records, id));
    const unique = 2_000_000 + acts++;
    const chance = random.integer(0, 99);
    const row = foreign.length === 0 ? undefined : random.pick(foreign);
    if (row === undefined || (chance < 25 && foreign.length < rows + 10))
      records.create(storedFields(kind, bodiesOf(kind).create(unique, random), UNKIND), atMs, 'other');
    else if (chance < 50 && foreign.length > rows - 10) records.remove(row.id, atMs);
    else records.edit(row.id, bodiesOf(kind).edit(unique, random), { atMs, actor: 'other' });
  };
  const tidy = (): void => {
    const atMs = nowMs();
    service.advance(atMs);
    for (const { kind, committed, operation } of service.sends)
      if (operation === 'create' && committed !== null && committed.atMs < atMs - OURS_STAY_MS)
        recordsOf(kind).remove(committed.id, atMs);
  };
  return {
    ...front,
    act,
    tidy,
    doubled: () => doubledIn(service.sends, recordsOf),
    isFalse: (certificate) => isFalse(recordsOf(certificate.kind), service.sends, certificate),
    wasRemoved: (kind, id) =>
      recordsOf(kind).actions.some((action) => action.id === id && action.is === 'deleted'),
    [Symbol.asyncDispose]: () => front[Symbol.asyncDispose](),
  };
}

function doubledIn(sends: readonly Send[], recordsOf: (kind: string) => Records): readonly string[] {
  const latest = new Map<string, string>();
  return sends.flatMap(({ kind, operation, body, committed }) => {
    if (operation !== 'create' || committed === null) return [];
    const create = `${kind} ${body}`;
    const before = latest.get(create);
    latest.set(create, committed.id);
    return before !== undefined && recordsOf(kind).find(before, committed.atMs) !== undefined ? [create] : [];
  });
}

/** Our own records land by themselves, whatever the list shows. */
function isFalse(records: Records, sends: readonly Send[], { kind, atMs, ids }: Certificate): boolean {
  const fromMs = atMs - WINDOW_MS;
  const own = new Set(
    sends.flatMap((send) =>
      send.kind === kind && send.committed !== null && send.committed.atMs >= fromMs
        ? [send.committed.id]
        : [],
    ),
  );
  const isOthers = (id: string): boolean => !own.has(id);
  const live = ids.filter(isOthers);
  const then: Pick<Records, 'actions' | 'at'> = {
    actions: records.actions,
    at: (ms) => records.at(ms).filter(({ id }) => isOthers(id)),
  };
  const instants = records.actions.map((action) => action.atMs).filter((ms) => ms > fromMs && ms <= atMs);
  return ![fromMs, ...instants].some((ms) => isListAt(then, live, ms));
}
