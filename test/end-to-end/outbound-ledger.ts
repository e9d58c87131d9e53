import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { expect } from 'vitest';
import { parseInstant, formatInstant } from '../../src/lib/time/clock.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { AtEnd, Scene, Wish } from './outbound-scene.ts';

/** An entry as it stands. */
export interface Standing {
  readonly id: number;
  readonly key: string;
  readonly kind: string;
  readonly operation: string;
  readonly recordId: string | null;
  readonly payload: JsonObject;
  readonly state: string;
  readonly verdict: string | null;
  readonly attempts: number;
}

export async function entries({ session }: Pick<Scene, 'session'>): Promise<Standing[]> {
  const rows = await session.query(sql`select * from outbox order by id`);
  return rows.map((row) => ({
    id: Number(row['id']),
    key: String(row['idempotency_key']),
    kind: String(row['kind']),
    operation: String(row['operation']),
    state: String(row['state']),
    attempts: Number(row['attempts']),
    recordId: row['record_id'] === null ? null : String(row['record_id']),
    verdict: row['verdict'] === null ? null : String(row['verdict']),
    payload: JSON.parse(String(row['payload'])) as JsonObject,
  }));
}

/** Waits until every entry has come to rest. */
export async function atRest({ session }: Pick<Scene, 'session'>, withinMs = 240_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  const open = sql`select count(*) as n from outbox where state in ('ready', 'sending', 'unsettled')`;
  while (Number((await session.query(open))[0]?.['n']) > 0) {
    if (performance.now() > deadline) throw new Error(`No rest: ${JSON.stringify(await tally(session))}`);
    await pause(100);
  }
}

/** How long an entry stood still at most, though it was due or in somebody's hands: in milliseconds. */
export interface Watch {
  readonly longest: () => number;
  /** Forgets what was, and what stands still counts only from now on: whatever held it up is over. */
  readonly calm: () => void;
}

export function watchStandstill(atEnd: AtEnd, { session }: Pick<Scene, 'session'>): Watch {
  const stop = new AbortController();
  let longest = 0;
  let from = 0;
  const watching = (async () => {
    while (!stop.signal.aborted) {
      const since = await stillSince(session);
      if (since !== null) longest = Math.max(longest, Date.now() - Math.max(since, from));
      await pause(100);
    }
  })();
  atEnd(async () => {
    stop.abort();
    await watching;
  });
  const calm = (): void => {
    [longest, from] = [0, Date.now()];
  };
  return { longest: () => Math.round(longest), calm };
}

/** Since when the entry that has waited longest is due, or has not moved in the hands that it is in. */
async function stillSince(session: Session): Promise<number | null> {
  const now = new Date();
  const [row] = await session.query(sql`
    select min(case when owner is null then coalesce(next_attempt_at, created_at) else updated_at end) as since
    from outbox where owner is not null or (state in ('ready', 'unsettled')
      and (next_attempt_at <= ${formatInstant(now)} or (next_attempt_at is null and state = 'ready')))`);
  const since = row?.['since'];
  return typeof since === 'string' ? parseInstant(since).getTime() : null;
}

/** How many entries there are of each operation, state and verdict. */
export async function tally(session: Session): Promise<Record<string, number>> {
  const rows = await session.query(sql`
    select operation, state, verdict, count(*) as n from outbox group by operation, state, verdict order by 1, 2, 3`);
  return Object.fromEntries(
    rows.map((row) => [`${row['operation']} ${row['state']} ${row['verdict']}`, Number(row['n'])]),
  );
}

/**
 * Nothing is doubled or lost: the service has one record for what is done, none for what it refused, one at most for
 * what waits for a person; every record shows the last value that it was to have; and whatever ended shows why.
 */
export async function expectExact(scene: Scene, wishes: readonly Wish[]): Promise<void> {
  const ended = await entries(scene);
  expect(ended.map(({ key }) => key).toSorted()).toEqual(wishes.map(({ key }) => key).toSorted());
  for (const { state, verdict } of ended) {
    expect(['done', 'rejected', 'parked']).toContain(state);
    expect(verdict).not.toBeNull();
  }
  expectOneEach(scene, ended);
  expectLastValues(scene, ended);
}

function expectOneEach({ service: { world } }: Scene, ended: readonly Standing[]): void {
  const made = ended.filter(({ operation }) => operation === 'create');
  for (const kind of new Set(made.map((entry) => entry.kind))) {
    const counts = new Map<unknown, number>();
    for (const id of world.ids(kind)) {
      const code = world.get(kind, id)?.['code'];
      counts.set(code, (counts.get(code) ?? 0) + 1);
    }
    const wrong = made
      .filter((entry) => entry.kind === kind)
      .map((entry) => ({ ...entry, records: counts.get(entry.payload['code']) ?? 0 }))
      .filter(({ state, records }) =>
        state === 'parked' ? records > 1 : records !== (state === 'done' ? 1 : 0),
      );
    expect(wrong).toEqual([]);
  }
}

/** Of the updates of a field of a record the last that was done holds; one that is parked may hold or not. */
function expectLastValues({ service: { world } }: Scene, ended: readonly Standing[]): void {
  const last = new Map<string, { readonly entry: Standing; readonly field: string }>();
  const doubtful = new Set<string>();
  for (const entry of ended.filter(({ operation }) => operation === 'update'))
    for (const field of Object.keys(entry.payload)) {
      const place = `${entry.kind} ${entry.recordId ?? ''} ${field}`;
      if (entry.state === 'done') last.set(place, { entry, field });
      if (entry.state === 'parked') doubtful.add(place);
    }
  const wrong = [...last].filter(
    ([
      place,
      {
        entry: { kind, recordId, payload },
        field,
      },
    ]) => !doubtful.has(place) && world.get(kind, Number(recordId))?.[field] !== payload[field],
  );
  expect(wrong).toEqual([]);
}
