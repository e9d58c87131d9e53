import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseCsv } from '@cj-tech-master/excelts/csv';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { edit, saved } from '../features/plans/work/support.ts';
import { document, run } from '../support/command-line.ts';
import { runProgram, start } from '../support/program.ts';
import { requestNumber } from '../support/requests.ts';
import { sized } from '../support/tiers.ts';
import { atRest, tally } from './outbound-ledger.ts';
import { serveBeside, serving, setScene, type Scene } from './outbound-scene.ts';
import { randomNumbers } from '../support/random-numbers.ts';

const ROWS = sized({ quick: 10, acceptance: 60, deep: 150 });
const KILLS = sized({ quick: 2, acceptance: 12, deep: 40 });
const TIMEOUT = { timeout: 900_000 };

interface Wanted {
  readonly city: string;
  readonly phone: string;
}

const wanted = (n: number): Wanted => ({ city: `City ${n}`, phone: `+1 514 555-${1000 + n}` });

/** Plans another city and phone number for so many clients, and as many new ones. */
async function plannedIn({ env, service: { world } }: Scene, folder: string): Promise<readonly number[]> {
  const file = join(folder, 'clients.csv');
  await run(['export', 'clients', '--excel', '--out', file], env);
  const text = readFileSync(file, 'utf8').slice(1);
  const lines = parseCsv(text, { delimiter: ';' }).filter((line) => line.length > 1);
  const ids = world.ids('clients').slice(0, ROWS);
  for (const [n, id] of ids.entries()) {
    edit(lines, String(id), { ...wanted(n) });
    edit(lines, '', { code: `MADE-${n}`, name: `Made ${n}` });
  }
  writeFileSync(file, saved(lines));
  const planned = document(await run(['plan', file, '--create', '--json'], env)) as {
    readonly counts: object;
  };
  expect(planned.counts).toEqual({ updates: ROWS, creates: ROWS, refusals: 0, entries: {} });
  return ids;
}

/** Kills `apply` at random moments between its start and its end: either every row is in the outbox then, or none. */
async function killApply({ env, session }: Scene, random: () => number): Promise<void> {
  const stored = sql`select count(*) as n from outbox`;
  const began = performance.now();
  await runProgram(['plan', '1'], { env });
  const longestMs = performance.now() - began;
  for (let kill = 0; kill < KILLS; kill++) {
    const program = start(['apply', '1'], { env });
    await Promise.race([program.ended, pause(random() * longestMs * 1.2)]);
    program.child.kill('SIGKILL');
    await program.ended;
    expect([0, 2 * ROWS]).toContain(Number((await session.query(stored))[0]?.['n']));
  }
  expect(await runProgram(['apply', '1'], { env })).toMatchObject({ code: 0 });
}

/** Kills `serve` at random moments of its sending. */
async function killServe({ env, gate }: Scene, random: () => number): Promise<void> {
  for (let kill = 0; kill < KILLS; kill++) {
    const program = start(['serve'], { env });
    await serving(program);
    const some = 1 + Math.floor(random() * 2 * ROWS);
    await Promise.race([requestNumber(gate, some), pause(1_500)]);
    program.child.kill('SIGKILL');
    expect(await program.ended).toMatchObject({ signal: 'SIGKILL' });
  }
}

test.concurrent.for(['sqlite', 'postgres'] as const)(
  `apply and serve over %s are killed ${KILLS} times each, and each cell is applied once`,
  TIMEOUT,
  async (at, { onTestFinished, task }) => {
    const scene = await setScene(onTestFinished, { at, size: ROWS + 20 });
    const { env, session, service } = scene;
    const folder = mkdtempSync(join(tmpdir(), 'bms-plans-'));
    onTestFinished(() => {
      rmSync(folder, { recursive: true, force: true });
    });
    const random = randomNumbers(20_260_303);
    const ids = await plannedIn(scene, folder);
    const before = new Map(service.world.ids('clients').map((id) => [id, service.world.get('clients', id)]));
    await killApply(scene, random);
    await killServe(scene, random);
    await serveBeside(onTestFinished, env);
    await atRest(scene);
    console.log('FIGURE', task.name, await tally(session));

    const keys = await session.query(sql`select idempotency_key as k from outbox where state = 'done'`);
    const positions = keys.map(({ k }) => Number(/^plan:1:(\d+)$/.exec(String(k))?.[1]));
    expect(new Set(positions).size).toBe(2 * ROWS);
    for (const [id, record] of before) {
      const { city, phone, name } = record ?? {};
      const shown = ids.includes(id) ? wanted(ids.indexOf(id)) : { city, phone };
      expect(service.world.get('clients', id)).toMatchObject({ ...shown, name });
    }
    const others = service.world.ids('clients').filter((id) => !before.has(id));
    const made = others.map((id) => service.world.get('clients', id)?.['code']);
    expect(made.toSorted()).toEqual(ids.map((_, n) => `MADE-${n}`).toSorted());
    await run(['pull', 'clients'], env);
    const events = await session.query(
      sql`select record_id, count(*) as n from changes where change = 'updated' group by record_id`,
    );
    expect(events.map((row) => [Number(row['record_id']), Number(row['n'])]).toSorted()).toEqual(
      ids.map((id) => [id, 1]).toSorted(),
    );
  },
);
