import { spansOf } from '../../diff/spans.ts';
import type { KindLease } from '../../mirror/kinds/kind-lease.ts';
import type { Queryable } from '../../mirror/session/session.ts';
import {
  readFirstSighting,
  readOldestSweepEnd,
  readSightings,
} from '../../mirror/sightings/sighting-store.ts';

/** The first of the kept list responses that showed a record. */
export interface FirstSighting {
  /** The tick that its row has for its first list sighting: before all that is kept, where the oldest kept sweep showed it. */
  readonly listed: number;
  readonly seenAt: string;
}

/** Sightings from before the present sweep. A few records are looked up one by one; for more, all sightings are loaded. */
export interface EarlierSightings {
  readonly find: (db: Queryable, id: string) => Promise<FirstSighting | null>;
  /** Frees the loaded sightings, which may be large. */
  readonly release: () => void;
}

type Find = (id: string) => FirstSighting | null;

/** Records that are looked up one by one: a reading between sweeps seldom finds more, and would load all each time. */
const LOOK_UPS = 5;

export function createEarlierSightings(
  kind: string,
  lease: Pick<KindLease, 'tick' | 'knownFrom'>,
): EarlierSightings {
  let loaded: Find | null = null;
  let lookUps = 0;
  return {
    find: async (db, id) => {
      if (loaded === null && lookUps++ < LOOK_UPS) return lookUp(db, { kind, id }, lease);
      loaded ??= await load(db, kind, lease);
      return loaded(id);
    },
    release: () => {
      loaded = null;
    },
  };
}

async function lookUp(
  db: Queryable,
  record: { readonly kind: string; readonly id: string },
  { tick, knownFrom }: Pick<KindLease, 'tick' | 'knownFrom'>,
): Promise<FirstSighting | null> {
  const first = await readFirstSighting(db, record, tick);
  if (first === null) return null;
  const isOfOldest = first.answered <= ((await readOldestSweepEnd(db, record.kind, tick)) ?? -Infinity);
  return { listed: isOfOldest ? knownFrom + 1 : first.answered, seenAt: first.seenAt };
}

async function load(
  db: Queryable,
  kind: string,
  { tick, knownFrom }: Pick<KindLease, 'tick' | 'knownFrom'>,
): Promise<Find> {
  const responses = (await readSightings(db, kind)).filter(({ answered }) => answered <= tick);
  const sweeps = responses.flatMap(({ sweep }) => sweep ?? []);
  const oldest = Math.min(...sweeps);
  const endOfOldest = Math.max(
    ...responses.filter(({ sweep }) => sweep === oldest).map((one) => one.answered),
  );
  const seenAt = new Map(responses.map((response) => [response.answered, response.seenAt]));
  const { ids, firstAnswered } = spansOf(responses, []);
  return (id) => {
    const answered = firstAnswered(ids.find(id));
    const at = seenAt.get(answered);
    if (at === undefined) return null;
    return { listed: answered <= endOfOldest ? knownFrom + 1 : answered, seenAt: at };
  };
}
