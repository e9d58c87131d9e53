import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { expect, inject, test } from 'vitest';
import { formatInstant } from '../../src/lib/time/clock.ts';
import type { Session } from '../../src/db/session/session.ts';
import { randomFrom } from '../../sandbox/generate/draw.ts';
import type { Program } from '../support/program.ts';
import { sized } from '../support/tiers.ts';
import { atRest, expectExact, tally } from './outbound-ledger.ts';
import {
  creates,
  insert,
  scattered,
  serveBeside,
  setScene,
  type Scene,
  type Wish,
} from './outbound-scene.ts';

/** So many moments at which a process is stopped. */
const FREEZES = sized({ quick: 1, acceptance: 2, deep: 30 });
const CREATES = sized({ quick: 40, acceptance: 100, deep: 100 });
const WITHIN_MS = 100_000;
/** About as long as two processes take for the creates; the quick size counts from when the victim has some in its hands. */
const WORK_MS = sized({ quick: 300, acceptance: 4_000, deep: 4_000 });
/** Whether the lease of the stopped process runs out in real time; else its last signs of life are moved back. */
const WAITS_FOR_LEASE = sized({ quick: 0, acceptance: 1, deep: 1 }) === 1;
const LEASE_MS = 60_000; // Longer than any.

const FAULTS = [
  { on: { method: 'POST' }, do: { latencyMs: 100 } },
  ...scattered({ method: 'POST' }, 12, [
    { drop: 'before' },
    { drop: 'after' },
    { statusAfter: 500 },
    { status: 503, retryAfter: '1' },
  ]),
];

const SETTINGS = {
  BMS__OUTBOUND__PATIENCE_SECONDS: String(sized({ quick: 6, acceptance: 20, deep: 20 })),
  BMS__SOURCE__TIMEOUT_SECONDS: '30',
  BMS__SOURCE__CONCURRENCY: '4',
};

test(
  `of two processes on one PostgreSQL mirror one is stopped, ${FREEZES} times under ${CREATES} creates: the other does all, nothing twice`,
  { timeout: 60_000 + FREEZES * (WITHIN_MS + 30_000) },
  async ({ onTestFinished }) => {
    const scene = await setScene(onTestFinished, { size: 60, at: 'postgres', env: SETTINGS, faults: FAULTS });
    const both = [await serveBeside(onTestFinished, scene.env), await serveBeside(onTestFinished, scene.env)];
    const random = randomFrom('frozen process', inject('seed'));
    const wishes: Wish[] = [];
    for (let freeze = 0; freeze < FREEZES; freeze++) {
      const half = CREATES / 2;
      const more = ['clients', 'providers'].flatMap((kind) => creates(kind, half, freeze * half));
      wishes.push(...more);
      const victim = both[freeze % 2];
      if (victim === undefined) throw new Error('no process');
      const momentMs = random.integer(0, WORK_MS);
      const figures = await freezeUnder(scene, { victim, more, momentMs });
      console.log(`FIGURE freeze ${freeze}`, figures, await tally(scene.session));
      await expectExact(scene, wishes);
    }
    const states = await tally(scene.session);
    expect(Object.keys(states).filter((state) => !state.startsWith('create done'))).toEqual([]);
    for (const { child } of both) child.kill('SIGTERM');
    for (const { ended } of both) expect(await ended).toMatchObject({ code: 0 });
    await expectExact(scene, wishes);
  },
);

interface Freeze {
  readonly victim: Program;
  readonly more: readonly Wish[];
  /** When it is stopped, after these creates were stored. */
  readonly momentMs: number;
}

/** Stops a process, and wakes it once the other has done all creates. */
async function freezeUnder(
  scene: Scene,
  { victim, more, momentMs }: Freeze,
): Promise<Readonly<Record<string, unknown>>> {
  await insert(scene, more);
  const inHand = async (): Promise<number> => Number((await standing(scene.session, victim))['entries']);
  if (!WAITS_FOR_LEASE) await expect.poll(inHand, { interval: 20 }).toBeGreaterThan(0);
  await pause(momentMs);
  victim.child.kill('SIGSTOP');
  const stopped = await standing(scene.session, victim);
  if (!WAITS_FOR_LEASE) await endLease(scene.session, victim);
  const begun = performance.now();
  await atRest(scene, WITHIN_MS);
  const restMs = Math.round(performance.now() - begun);
  const woken = new Date();
  victim.child.kill('SIGCONT');
  await expect.poll(() => seenSince(scene.session, victim, woken)).toBe(1);
  await atRest(scene, WITHIN_MS);
  return { momentMs, restMs, ...stopped };
}

const ofProcess = ({ child }: Program): string => `%:${child.pid ?? ''}:%`;

/** What a process has in its hands. */
async function standing(session: Session, victim: Program): Promise<Readonly<Record<string, unknown>>> {
  const like = ofProcess(victim);
  const [row = {}] = await session.query(sql`
    select (select count(*) from outbox where owner like ${like}) as entries,
      (select count(*) from kind_state where owner like ${like}) as lists,
      (select count(*) from pg_stat_activity where application_name = 'bms-sync' and datname = current_database()
        and state = 'idle in transaction') as transactions`);
  return row;
}

/** Lets the others see a process that gave its last signs of life longer ago than any lease lasts. */
async function endLease(session: Session, victim: Program): Promise<void> {
  const like = ofProcess(victim);
  const past = formatInstant(new Date(Date.now() - LEASE_MS));
  await session.atomically(async (tx) => {
    await tx.query(sql`update workers set seen_at = ${past} where owner like ${like}`);
    await tx.query(sql`update kind_state set lease_until = ${past} where owner like ${like}`);
  });
}

async function seenSince(session: Session, victim: Program, woken: Date): Promise<number> {
  const rows = await session.query(sql`
    select owner from workers where owner like ${ofProcess(victim)} and seen_at >= ${formatInstant(woken)}`);
  return rows.length;
}
