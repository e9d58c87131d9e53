import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { sql } from 'drizzle-orm';
import { expect, onTestFinished, test } from 'vitest';
import { addEndpoint } from '../../src/feed/webhooks/endpoints.ts';
import { openSession } from '../../src/mirror/open-session.ts';
import type { Row, Session } from '../../src/mirror/session/session.ts';
import { putChanges } from '../feed/support.ts';
import { startReceiver } from '../feed/webhooks/receiver.ts';
import type { Env } from '../support/command-line.ts';
import { runProgram, start } from '../support/program.ts';
import type { Program } from '../support/program.ts';
import { migratedMirror } from '../support/sqlite-templates.ts';
import { serving } from './outbound-scene.ts';

const ALLOWED = ['127.0.0.1'];
const NOWHERE = 'https://hooks.bms-sync.invalid/';

interface Stage {
  readonly session: Session;
  readonly env: Env;
}

async function stage(): Promise<Stage> {
  const url = `file:${await migratedMirror()}`;
  const session = await openSession(url);
  onTestFinished(() => session.close());
  const env = {
    ...{ DATABASE_URL: url, BMS_BASE_URL: 'http://127.0.0.1:9', BMS_TOKEN: 'none', PORT: '0' },
    BMS__SCHEDULES__ALL: 'null',
    BMS__FRESHNESS__REQUESTS_PER_MINUTE: 'null',
    BMS__WEBHOOKS__ALLOW_HOSTS: JSON.stringify(ALLOWED),
    BMS__WEBHOOKS__RETRY_SECONDS: '[3600]',
  };
  return { session, env };
}

async function add(session: Session, name: string, url: string): Promise<void> {
  const all = { kinds: null, changes: null, fields: null, format: 'json' } as const;
  await addEndpoint(session, { name, url, ...all }, { allowHosts: ALLOWED, now: new Date() });
}

async function putEvents(session: Session, count: number): Promise<void> {
  const observed_at = '2026-03-01 12:00:00.000';
  const ids = Array.from({ length: count }, (_, index) => String(index + 1));
  await putChanges(session, ...ids.map((record_id) => ({ record_id, change: 'updated', observed_at })));
}

async function startServe({ env }: Stage): Promise<Program> {
  const program = start(['serve'], { env });
  onTestFinished(() => void program.child.kill('SIGKILL'));
  await serving(program);
  return program;
}

/** Waits until every delivery of an endpoint has been tried, or the process that tries has ended. */
async function tried({ session }: Stage, name: string, { child }: Program): Promise<readonly Row[]> {
  for (;;) {
    const rows = await session.query(sql`
      select d.state, d.error, d.attempts from webhook_deliveries d
      join webhook_endpoints e on e.id = d.endpoint_id where e.name = ${name} and d.seq is not null`);
    if (rows.length > 0 && rows.every(({ attempts }) => Number(attempts) > 0)) return rows;
    if (child.exitCode !== null) return [];
    await pause(20);
  }
}

test(
  'a receiver whose name is not known is one that failed: serve goes on, and webhooks test says so',
  { timeout: 60_000 },
  async () => {
    const on = await stage();
    await add(on.session, 'nowhere', NOWHERE);
    const tested = await runProgram(['webhooks', 'test', 'nowhere', '--json'], { env: on.env });
    const unknown = expect.stringMatching(/^(?:ENOTFOUND|EAI_AGAIN)$/) as string;
    expect([tested.code, JSON.parse(tested.stdout || '{}')]).toMatchObject([
      1,
      { delivered: false, status: null, error: unknown },
    ]);

    const program = await startServe(on);
    await putEvents(on.session, 1);
    expect(await tried(on, 'nowhere', program)).toMatchObject([{ state: 'ready', error: unknown }]);
    program.child.kill('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 0 });
  },
);

test('a dozen receivers at work at once make Node warn of nothing', { timeout: 60_000 }, async () => {
  const on = await stage();
  const gate = new EventEmitter();
  const open = once(gate, 'open');
  const receiver = await startReceiver(async (_, count) => {
    if (count === 12) gate.emit('open');
    await open;
    return { status: 204 };
  });
  const names = Array.from({ length: 12 }, (_, index) => `receiver-${index}`);
  for (const name of names) await add(on.session, name, receiver.url);
  const program = await startServe(on);
  await putEvents(on.session, 1);
  await receiver.took(12);
  program.child.kill('SIGTERM');
  const { code, stderr } = await program.ended;
  expect(code).toBe(0);
  expect(stderr).not.toContain('Warning');
});

/** A receiver in a thread of its own that answers every request with interim answers, as fast as they are read. */
async function startFlooder(): Promise<string> {
  const worker = new Worker(
    `const { createServer } = require('node:net');
    const block = Buffer.from('HTTP/1.1 103 Early Hints\\r\\n\\r\\n'.repeat(2_400));
    createServer((socket) => {
      const more = () => { while (!socket.destroyed && socket.write(block)); };
      socket.on('error', () => undefined).on('drain', more).on('data', () => undefined).once('data', more);
    }).listen(0, '127.0.0.1', function () { require('node:worker_threads').parentPort.postMessage(this.address().port); });`,
    { eval: true },
  );
  onTestFinished(() => void worker.terminate());
  const [port] = (await once(worker, 'message')) as [number];
  return `http://127.0.0.1:${port}/`;
}

test(
  'a receiver that answers without end with interim answers is cut off, and delays no other',
  { timeout: 60_000 },
  async () => {
    const on = await stage();
    const receiver = await startReceiver();
    await add(on.session, 'flooder', await startFlooder());
    const program = await startServe(on);
    await putEvents(on.session, 16);
    const rows = await tried(on, 'flooder', program);
    expect(rows).toHaveLength(16);
    expect(new Set(rows.map(({ error }) => error))).toEqual(new Set(['too_many_interim_answers']));

    await add(on.session, 'quick', receiver.url);
    await putEvents(on.session, 40);
    await receiver.took(40);
    program.child.kill('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 0 });
  },
);
