import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { expect, test, type TestContext } from 'vitest';
import type { Env } from '../support/command-line.ts';
import { start } from '../support/program.ts';
import { requestNumber } from '../support/requests.ts';
import { sized } from '../support/tiers.ts';
import { atRest, expectExact, tally, watchStandstill } from './outbound-ledger.ts';
import {
  creates,
  insert,
  redisFor,
  serveBeside,
  serving,
  setScene,
  updates,
  type Scene,
  type Staging,
  type Wish,
} from './outbound-scene.ts';
import { randomWholes } from '../support/random-numbers.ts';

const LONGEST_MS = 75_000;
const SQLITE_KILLS = sized({ quick: 2, acceptance: 6, deep: 60 });
const CUTS = sized({ quick: 2, acceptance: 5, deep: 20 });
const PAIR = 4; // So many creates, and so many updates, go in at a time.
const MOST_REQUESTS = 60;
const MOST_TURNS = 1_000;
const TIMEOUT = { timeout: 900_000 };

interface Streamed {
  readonly scene: Scene;
  readonly stream: () => Promise<void>;
}

/** Streams entries while their workers are in trouble, and holds what becomes of them against the service. */
async function suffer(
  { onTestFinished, task }: TestContext,
  staging: Staging,
  trouble: (parts: Streamed) => Promise<void>,
): Promise<void> {
  const scene = await setScene(onTestFinished, { size: 60, ...staging });
  const still = watchStandstill(onTestFinished, scene);
  const stored: Wish[] = [];
  const stream = async (): Promise<void> => {
    const from = stored.length;
    const wishes = [...creates('clients', PAIR, from), ...updates(scene, PAIR, from)];
    stored.push(...wishes);
    await insert(scene, wishes);
  };

  await trouble({ scene, stream });
  const troubledMs = still.longest();
  still.calm();
  await atRest(scene);

  console.log('FIGURE', task.name, {
    troubledMs,
    longestMs: still.longest(),
    ...(await tally(scene.session)),
  });
  await expectExact(scene, stored);
  expect(still.longest()).toBeLessThan(LONGEST_MS);
}

/** Starts a process after the other, and kills each at a random moment of its work. */
async function killOften({ scene, stream }: Streamed, env: Env, kills: number): Promise<void> {
  const random = randomWholes(20_260_301);
  for (let kill = 0; kill < kills; kill++) {
    await stream();
    const program = start(['serve'], { env });
    await serving(program);
    // Some die before they have sent anything.
    await Promise.race([requestNumber(scene.gate, 1 + random(MOST_REQUESTS)), pause(1_500)]);
    for (let turns = random(MOST_TURNS); turns > 0; turns--) await turn();
    program.child.kill('SIGKILL');
    expect(await program.ended).toMatchObject({ signal: 'SIGKILL' });
  }
}

test.concurrent(
  `workers of a SQLite mirror are killed ${SQLITE_KILLS} times, with Redis (H05, D07)`,
  TIMEOUT,
  (context) =>
    suffer(context, {}, async (streamed) => {
      const redis = await redisFor(context.onTestFinished);
      const env = { ...streamed.scene.env, QUEUE_URL: redis.url };
      await killOften(streamed, env, SQLITE_KILLS);
      await serveBeside(context.onTestFinished, env);
    }),
);

test.concurrent(`all connections to PostgreSQL are cut ${CUTS} times (F07, G05)`, TIMEOUT, (context) =>
  suffer(context, { at: 'postgres' }, async ({ scene, stream }) => {
    const url = scene.env['DATABASE_URL'] ?? '';
    await serveBeside(context.onTestFinished, scene.env);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    context.onTestFinished(() => client.end());
    const random = randomWholes(20_260_302);
    for (let cut = 0; cut < CUTS; cut++) {
      await stream();
      await pause(random(300));
      await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
      await stream();
      await pause(random(500));
    }
  }),
);
