import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { start, type Program } from '../support/program.ts';
import { atRest, expectExact } from './outbound-ledger.ts';
import { sized } from '../support/tiers.ts';
import { creates, insert, serving, setScene } from './outbound-scene.ts';

const STARTS = sized({ quick: 2, acceptance: 4, deep: 20 });

/** Ends all connections but its own: until a process serves, with pauses, then close together while it sets up its queues. */
async function cutStart(client: pg.Client, program: Program, pauseMs: number): Promise<number> {
  let cuts = 0;
  let until = Infinity;
  void serving(program).then(() => {
    until = performance.now() + 1_500;
  });
  while (performance.now() < until) {
    const { rowCount } = await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    cuts += rowCount ?? 0;
    await pause(until === Infinity ? 100 : pauseMs);
  }
  return cuts;
}

test('serve survives a server that ends all connections again and again while it starts (F07, G05)', async ({
  onTestFinished,
  task,
}) => {
  const scene = await setScene(onTestFinished, { size: 5, at: 'postgres' });
  const url = scene.env['DATABASE_URL'] ?? '';
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  const wishes = Array.from({ length: STARTS }, (_, i) => creates('clients', 3, i * 3));
  const cuts: number[] = [];
  for (const [i, some] of wishes.entries()) {
    await insert(scene, some);
    const program = start(['serve'], { env: scene.env });
    onTestFinished(() => {
      program.child.kill('SIGKILL');
    });
    cuts.push(await cutStart(client, program, 5 + (i % 4) * 10));
    await Promise.race([atRest(scene, 60_000), program.ended]);
    program.child.kill('SIGTERM');
    const ended = await program.ended;
    expect(ended, ended.stderr).toMatchObject({ code: 0, signal: null });
  }
  console.log('FIGURE', task.name, { cuts });
  await expectExact(scene, wishes.flat());
});
