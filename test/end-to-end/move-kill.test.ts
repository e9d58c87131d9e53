import { createConnection, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { GUARD_FUNCTION } from '../../src/db/session/write-guard.ts';
import { openSession } from '../../src/db/open-session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { startReceiver } from '../events/webhooks/receiver.ts';
import { run, type Env } from '../support/command-line.ts';
import { listening } from '../support/listening.ts';
import { freshDatabase } from '../support/postgres.ts';
import { runProgram, start } from '../support/program.ts';
import { requestNumber } from '../support/requests.ts';
import { sized } from '../support/tiers.ts';
import { atRest } from './outbound-ledger.ts';
import { creates, push, serveBeside, serving, setScene, type AtEnd, type Scene } from './outbound-scene.ts';

const CLIENTS = sized({ quick: 80, acceptance: 10_000, deep: 10_000 });
const KILLS = 20;
const ENDPOINTS = 10;
const SENT = 40;
const ENDED = 440;
const EVENTS = 40;
const LOCAL: Env = { BMS__WEBHOOKS__ALLOW_HOSTS: '["127.0.0.1"]' };

/** A way to PostgreSQL that counts the transactions, and calls back as the n-th ends: before or after its end is passed on. */
async function countingProxy(url: string) {
  const { hostname: host, port } = new URL(url);
  let sent = 0;
  let next: { readonly at: number; readonly call: () => void } | null = null;
  const server = createServer((client) => {
    const upstream = createConnection({ host, port: Number(port) });
    const cut = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', cut).on('close', cut);
    upstream.on('data', (bytes) => client.write(bytes));
    client.on('data', (bytes) => {
      if (bytes.includes('commit\0')) sent += 1;
      const here = next !== null && sent >= next.at ? next : null;
      if (here === null || sent % 2 === 0) upstream.write(bytes);
      if (here === null) return;
      next = null;
      here.call();
    });
  });
  const gate = await listening(server);
  const through = new URL(url);
  through.host = `127.0.0.1:${gate.port}`;
  return {
    [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose](),
    url,
    through: through.href,
    sent: () => sent,
    callAt: (n: number, call: () => void): void => {
      sent = 0;
      next = { at: n, call };
    },
  };
}

/** A connection that the guards take for one of ours: what then refuses a row is the move. */
function openAsOurs(path: string): Database.Database {
  const file = new Database(path);
  file.function(GUARD_FUNCTION, () => null);
  return file;
}

/** Entries in every state: some by a `serve` that is killed while answers are lost, the others as they stand in a long-used mirror. */
async function fillOutbox(scene: Scene, path: string): Promise<void> {
  const { env, service, gate } = scene;
  await push(scene, creates('clients', SENT));
  const program = start(['serve'], { env });
  await serving(program);
  await requestNumber(gate, SENT / 2, 'POST');
  program.child.kill('SIGKILL');
  await program.ended;
  expect(service.requests.filter(({ method }) => method === 'POST').length).toBeGreaterThan(0);
  const file = openAsOurs(path);
  const insert = file.prepare(
    `insert into outbox (idempotency_key, kind, operation, payload, state, verdict, attempts) values (?, 'clients', 'create', ?, ?, ?, 1)`,
  );
  const states = ['done', 'parked', 'rejected', 'abandoned'];
  for (let n = 0; n < ENDED; n++)
    insert.run(`old-${n}`, JSON.stringify({ code: `OLD-${n}`, name: `Old ${n}` }), states[n % 4], 'by_hand');
  file.exec(`insert into outbox_attempts (outbox_id, n, opened_at, closed_at, grade, status, request)
    select id, 1, created_at, created_at, 'done', 201, 'POST /api/clients' from outbox where idempotency_key like 'old-%';
    insert into outbox_keys (idempotency_key, outbox_id, kind, operation, record_id, state, request_hash, ended_at)
    values ('archived', 100000, 'clients', 'create', null, 'done', 'x', '2026-01-01 00:00:00.000')`);
  file.close();
}

/** Events, of which each endpoint has seen another part. */
async function fillEvents({ env, service, session }: Scene, receiver: string): Promise<void> {
  for (const id of service.world.ids('clients').slice(0, EVENTS))
    service.world.update('clients', id, { city: 'Elsewhere' });
  expect(await run(['pull', 'clients'], env)).toMatchObject({ code: 0 });
  for (let n = 0; n < ENDPOINTS; n++)
    expect(await run(['webhooks', 'add', `${receiver}/${n}`, '--name', `e${n}`], env)).toMatchObject({
      code: 0,
    });
  await session.atomically((tx) =>
    tx.query(sql`update webhook_endpoints set cursor = (select max(seq) from changes) - id`),
  );
}

/** One of both places refuses to send, by a real `serve`; the file takes no entry. */
async function expectOnePlace(source: Env, target: Env, path: string): Promise<boolean> {
  const file = await run(['serve'], source, AbortSignal.timeout(5_000));
  expect([file.code, file.stderr]).toEqual([1, expect.stringMatching(/is moving to|has moved to/) as string]);
  const there = openAsOurs(path);
  try {
    for (const insert of [
      `insert into outbox (idempotency_key, kind, operation, payload) values ('late', 'clients', 'create', '{}')`,
      `insert into outbox_attempts (outbox_id, n, opened_at, request) values (1, 9, '2026-01-01 00:00:00.000', 'POST')`,
    ])
      expect(() => there.exec(insert)).toThrow('nothing more is stored in this file');
  } finally {
    there.close();
  }
  const database = await run(['status'], target);
  return database.code === 0;
}

async function freshTarget(atEnd: AtEnd): Promise<string> {
  const { url, drop } = await freshDatabase();
  atEnd(drop);
  expect(await run(['migrate'], { DATABASE_URL: url })).toMatchObject({ code: 0 }); // Then each move sends about as much.
  return url;
}

test(
  `a move with entries in all states and ${ENDPOINTS} endpoints is killed at ${KILLS} points: never do both places send, and nothing is made twice`,
  { timeout: 900_000 },
  async ({ onTestFinished }) => {
    const receiver = await startReceiver();
    const scene = await setScene(onTestFinished, { size: CLIENTS, kinds: [], env: LOCAL });
    const { env, session, service } = scene;
    const path = session.location;
    await fillOutbox(scene, path);
    await fillEvents(scene, receiver.url);
    const keys = await session.query(sql`select idempotency_key as key, state from outbox order by id`);
    expect(new Set(keys.map(({ state }) => state)).size).toBeGreaterThan(5);
    const [{ seq: latest = null } = {}] = await session.query(sql`select max(seq) as seq from changes`);

    const proxy = await countingProxy(await freshTarget(onTestFinished));
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    const transactions = await countTransactions(onTestFinished, scene);
    const target = { ...env, DATABASE_URL: proxy.url };
    const began = performance.now();
    let kills = 0;
    const evenly = Math.floor(transactions * 0.35);
    for (let isOver = false; !isOver;) {
      const program = start(['move', proxy.through], { env });
      // Eighteen kills spread over the copying, then one at every sixteenth later transaction.
      const at = kills < 18 ? Math.ceil((evenly * (kills + 1)) / 18) : evenly + 16 * (kills - 17);
      proxy.callAt(at, () => program.child.kill('SIGKILL'));
      const { code, signal, stderr } = await program.ended;
      isOver = signal !== 'SIGKILL';
      expect([code, stderr]).toEqual([isOver ? 0 : null, stderr]);
      if (!isOver) kills += 1;
      const begun = await session.query(sql`select 1 from mirror_meta where key = 'move.to'`);
      if (begun.length > 0) await expectOnePlace(env, target, path);
    }
    expect(kills).toBeGreaterThanOrEqual(KILLS);
    expect(await runProgram(['move', proxy.through], { env })).toMatchObject({ code: 0 });
    console.log(
      'FIGURE',
      kills,
      'kills',
      Math.round(performance.now() - began),
      'ms',
      transactions,
      'transactions',
    );
    expect(await expectOnePlace(env, target, path)).toBe(true);

    await using moved = await openSession(proxy.url);
    const { child, ended } = await serveBeside(onTestFinished, target);
    await atRest({ session: moved });
    await atEndOfEvents(moved);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0 });
    const made = service.world
      .ids('clients')
      .map((id) => JSON.stringify(service.world.get('clients', id)?.['code']));
    const ours = made.filter((code) => code.startsWith('"NEW-'));
    expect(new Set(ours).size).toBe(ours.length);
    const posts = service.requests.filter(({ method }) => method === 'POST').length;
    await push({ env: target }, creates('clients', SENT));
    expect(await moved.query(sql`select idempotency_key as key from outbox order by id`)).toEqual(
      keys.map(({ key }) => ({ key })),
    );
    expect(service.requests.filter(({ method }) => method === 'POST').length).toBe(posts);
    const firsts = await moved.query(sql`
      select endpoint_id as id, min(seq) as seq from webhook_deliveries where seq is not null group by 1 order by 1`);
    expect(firsts).toEqual(
      Array.from({ length: ENDPOINTS }, (_, n) => ({ id: n + 1, seq: Number(latest) - n })),
    );
    for (const argv of [['pull'], ['verify']]) {
      const {
        code: exit,
        stdout,
        stderr,
      } = await run(argv, { ...target, BMS__SOURCE__TIMEOUT_SECONDS: '30' });
      expect([argv, exit, stdout, stderr]).toEqual([argv, 0, stdout, stderr]);
    }
  },
);

/** How many transactions a first move has in PostgreSQL: one of a copy of the file. A repeated one finds the indexes, and has fewer. */
async function countTransactions(atEnd: AtEnd, { env, session }: Scene): Promise<number> {
  const copy = `${session.location}.copy`;
  const file = new Database(session.location);
  await file.backup(copy);
  file.close();
  await using proxy = await countingProxy(await freshTarget(atEnd));
  const ended = await runProgram(['move', proxy.through], { env: { ...env, DATABASE_URL: `file:${copy}` } });
  expect(ended).toMatchObject({ code: 0 });
  return proxy.sent();
}

/** Waits until every endpoint has got every event. */
async function atEndOfEvents(session: Session): Promise<void> {
  const open = sql`
    select 1 from webhook_endpoints where cursor < (select max(seq) from changes)
    union all select 1 from webhook_deliveries where state in ('ready', 'waiting')`;
  const deadline = performance.now() + 120_000;
  while ((await session.query(open)).length > 0) {
    expect(performance.now()).toBeLessThan(deadline);
    await pause(100);
  }
}
