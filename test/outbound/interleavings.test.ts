import { AsyncLocalStorage } from 'node:async_hooks';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { WorkRef } from '../../src/lib/work-queue.ts';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { compactJson } from '../../src/lib/json/json.ts';
import { readAttempts } from '../../src/store/outbox/attempts-and-links.ts';
import { findEntry, type Operation } from '../../src/store/outbox/outbox-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import { createOwnSends } from '../../src/outbound/own-sends.ts';
import { startStopwatch } from '../../src/outbound/stopwatch.ts';
import { outboxWork } from '../../src/outbound/send/outbox-work.ts';
import type { OutboundParts } from '../../src/outbound/parts.ts';
import { randomFrom, type Random } from '../../sandbox/generate/draw.ts';
import type { WriteAnswer } from '../../src/source/http/write-answer.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { logger } from '../pull/support.ts';
import { openMirror } from '../world/mirrors.ts';
import { OUTBOUND_RULES } from './stage.ts';
import { insertEntry } from '../store/outbox/entries.ts';

const INTERLEAVINGS = process.env['BMS_TEST_DEEP'] === undefined ? 500 : 20_000;

/** So often nobody waits for a turn before all have come to their end. */
const IDLE_TURNS = 5;
/** Steps that wait for their turn; which of them is next, chance decides. */
interface Turns {
  readonly take: () => Promise<void>;
  readonly play: (work: readonly Promise<unknown>[]) => Promise<void>;
}

function createTurns(random: Random): Turns {
  const waiting: (() => void)[] = [];
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 4; turn++)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  };
  return {
    take: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
      }),
    play: async (work) => {
      const all = Promise.all(work);
      all.catch(() => undefined); // Thrown below, where it is awaited.
      for (let idle = 0; idle < IDLE_TURNS;) {
        await settle();
        const [next] = waiting.splice(random.integer(0, waiting.length - 1), 1);
        idle = next === undefined ? idle + 1 : 0;
        next?.();
      }
      await all;
    },
  };
}

interface Sent {
  /** The epoch of the notification under which the row was claimed. */
  readonly epoch: number;
  /** Attempts in the journal when it left. */
  readonly attempts: number;
}

/** The notification that is being worked, whatever the code under test does with it. */
const notified = new AsyncLocalStorage<WorkRef>();

/** A worker whose every step outside its own memory waits for its turn. */
function worker(
  session: Session,
  turns: Turns,
  { name, answer, sent, random }: { name: string; answer: () => WriteAnswer; sent: Sent[]; random: Random },
): ReturnType<typeof outboxWork> {
  const record = { id: 7, code: 'ZZ-1', name: 'Autre nom' };
  const parts: OutboundParts = {
    session: {
      ...session,
      atomically: async (work) => {
        await turns.take();
        const done = await session.atomically(work);
        await turns.take();
        return done;
      },
    },
    source: {
      write: async () => {
        await turns.take();
        const [row] = await session.query(sql`select count(*) as attempts from outbox_attempts`);
        sent.push({ epoch: notified.getStore()?.epoch ?? -1, attempts: Number(row?.['attempts']) });
        await turns.take();
        return answer();
      },
      retrieve: async () => {
        await turns.take();
        const isWritten = sent.length > 0 && random.chance(0.7);
        return { record: isWritten ? record : { ...record, name: 'Zoé' }, sent: 0, answered: 0 };
      },
      pages: () => {
        throw new Error('nothing is read from lists here');
      },
    },
    sendCounter: { read: () => Promise.resolve(0), write: () => turns.take() },
    ownSends: createOwnSends(),
    clock,
    logger,
    owner: name,
    kinds: LISTED_KINDS,
    rules: OUTBOUND_RULES,
    waits: { stopwatch: startStopwatch(clock), random: () => 0 },
  };
  return outboxWork(parts);
}

let clock = fakeClock();
const ANSWERS: readonly WriteAnswer[] = [
  { is: 'unsent', why: 'ECONNREFUSED' },
  { is: 'lost', why: 'ECONNRESET' },
  { is: 'answered', status: 500, body: undefined, start: '', retryAfterMs: null },
  { is: 'answered', status: 429, body: { message: 'Too Many Attempts.' }, start: '', retryAfterMs: null },
  {
    is: 'answered',
    status: 200,
    start: '',
    retryAfterMs: null,
    body: { data: { id: 7, code: 'ZZ-1', name: 'Autre nom' } },
  },
];

const NOON = '2026-03-01 12:00:00.000';

async function store(session: Session, operation: Operation): Promise<number> {
  const now = clock.now();
  const entry = { operation, kind: 'clients', recordId: operation === 'update' ? '7' : null, key: 'key' };
  const data = operation === 'update' ? { name: 'Autre nom' } : { code: 'ZZ-1', name: 'Autre nom' };
  const id = await session.atomically(async (tx) => {
    await tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, epoch, certified_at, last_sweep_at, baseline_at)
      values ('clients', 5, 'certified', 1, 1, '2026-03-01 11:59:00.000', '2026-03-01 11:59:00.000', '2026-03-01 11:59:00.000')`);
    // The reading of a run that begins after the workers have started.
    await tx.query(sql`
      insert into runs (id, command, state, kinds, requested_at) values (1, 'pull', 'requested', '["clients"]', ${NOON})`);
    await tx.query(
      sql`insert into run_kinds values (1, 'clients', 'certified', null, null, ${NOON}, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, ${NOON}, 0)`,
    );
    return insertEntry(tx, { ...entry, payload: compactJson(data), base: null, naturalKey: null, now });
  });
  if (id === null) throw new Error('the key is taken');
  return id;
}

test.each([
  [2, 'create'],
  [3, 'create'],
  [2, 'update'],
  [3, 'update'],
] as const)('%i workers on one %s send it once for each attempt and claim', async (count, operation) => {
  await using mirror = await openMirror(null);
  let sends = 0;
  for (let seed = 1; seed <= INTERLEAVINGS / 4; seed++) {
    const random = randomFrom('interleavings', count, operation, seed);
    const session = await mirror.blank();
    clock = fakeClock();
    const id = await store(session, operation);
    const turns = createTurns(random);
    const sent: Sent[] = [];
    const answer = (): WriteAnswer => random.pick(ANSWERS);
    const names = Array.from({ length: count }, (_none, at) => `us:${at}:a`);
    const workers = names.map((name) => worker(session, turns, { name, answer, sent, random }));
    for (let round = 0; round < 3; round++) {
      const refs = await due(session, id);
      const work = workers.flatMap((one, at) => [
        ...refs.map((ref) => workNotified(one, ref)),
        ...(random.chance(0.3) ? refs.map((ref) => workNotified(one, ref)) : []),
        ...(random.chance(0.2) ? refs.map((ref) => notifyAgain(one, ref)) : []),
        // Somebody takes the others for dead, though they are not.
        ...(random.chance(0.2) ? [one.releaseStaleClaims((owner) => owner === names[at])] : []),
      ]);
      await turns.play(work);
      await clock.sleep(700_000);
    }
    const attempts = await readAttempts(session, id);
    expect(sent.length, `seed ${seed}`).toBeLessThanOrEqual(attempts.length);
    expect(new Set(attempts.map(({ n }) => n)).size, `seed ${seed}`).toBe(attempts.length);
    for (const [at, { attempts: journalled }] of sent.entries())
      expect(
        journalled,
        `seed ${seed}: a request left before its attempt was in the journal`,
      ).toBeGreaterThan(at);
    expect(new Set(sent.map(({ epoch }) => epoch)).size, `seed ${seed}: two sends under one claim`).toBe(
      sent.length,
    );
    if (operation === 'create')
      expect((await findEntry(session, id))?.state, `seed ${seed}`).not.toBe('sending');
    sends += sent.length;
  }
  expect(sends).toBeGreaterThan(INTERLEAVINGS / 8);
});

type Outbox = ReturnType<typeof outboxWork>;

const workNotified = (outbox: Outbox, ref: WorkRef): Promise<unknown> =>
  notified.run(ref, () => outbox.work(ref));

async function notifyAgain(outbox: Outbox, ref: WorkRef): Promise<void> {
  const raised = await outbox.raise(ref);
  if (raised !== null) await workNotified(outbox, raised);
}

async function due(session: Session, id: number): Promise<WorkRef[]> {
  const entry = await findEntry(session, id);
  return entry === null ? [] : [{ id, epoch: entry.epoch }];
}
