import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { expect, type TestContext } from 'vitest';
import type { JsonObject } from '../../src/lib/json/json.ts';
import { openSession } from '../../src/db/open-session.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { Fault } from '../../sandbox/faults.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/sandbox.ts';
import { run, type Env } from '../support/command-line.ts';
import { gateTo, type Gate } from '../support/gate.ts';
import { freshDatabase } from '../support/postgres.ts';
import { start, type Program } from '../support/program.ts';
import { findRedis, startRedis, type RedisServer } from '../support/redis-server.ts';
import { copyGrownMirror } from '../support/sqlite-templates.ts';

/** From the context of a test: tests that run side by side have no other way to show what to do at their end. */
export type AtEnd = TestContext['onTestFinished'];

/** Waits that a test can sit through; `patience` outlasts every late arrival that the tests make. */
const QUICK: Env = {
  BMS_WRITES: 'on',
  PORT: '0',
  BMS__SCHEDULES__ALL: 'null',
  BMS__FRESHNESS__REQUESTS_PER_MINUTE: 'null',
  BMS__OUTBOUND__SETTLE_SECONDS: '1',
  BMS__OUTBOUND__PATIENCE_SECONDS: '8',
  BMS__SOURCE__TIMEOUT_SECONDS: '1',
  BMS__SOURCE__CONCURRENCY: '8',
};

/** A service, a mirror of it with its outbox, and the settings that bring them together. */
export interface Scene {
  readonly service: Sandbox;
  /** All requests to the service go through it. */
  readonly gate: Gate;
  readonly env: Env;
  readonly session: Session;
}

export interface Staging extends SandboxOptions {
  readonly at?: 'sqlite' | 'postgres';
  readonly env?: Env;
  /** What is read before anything is sent: what the mirror knows certainly, no create waits for. */
  readonly kinds?: readonly string[];
}

/** Sets a scene up and reads the service once. */
export async function setScene(atEnd: AtEnd, staging: Staging = {}): Promise<Scene> {
  const { at = 'sqlite', env: further = {}, kinds = ['clients', 'providers'], ...options } = staging;
  const service = await startSandbox(options);
  const url = at === 'sqlite' ? `file:${await freshFile(atEnd)}` : await freshPostgres(atEnd);
  const gate = await gateTo(service.url);
  const settings = { BMS_BASE_URL: gate.url, BMS_TOKEN: service.token, DATABASE_URL: url };
  const env = { ...QUICK, ...settings, ...further };
  expect(await run(['pull', ...kinds], env)).toMatchObject({ code: 0 });
  const session = await openSession(url);
  atEnd(() => session.close());
  atEnd(() => service.close());
  atEnd(() => gate[Symbol.asyncDispose]());
  return { service, gate, env, session };
}

async function freshFile(atEnd: AtEnd): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bms-sync-'));
  atEnd(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const path = join(folder, 'mirror.db');
  await copyGrownMirror(path);
  return path;
}

async function freshPostgres(atEnd: AtEnd): Promise<string> {
  const { url, drop } = await freshDatabase('template_grown');
  atEnd(drop);
  return url;
}

/** A Redis for one test. */
export async function redisFor(atEnd: AtEnd): Promise<RedisServer> {
  const redis = await startRedis(findRedis());
  atEnd(() => redis.stop());
  return redis;
}

/** Starts `serve` as a process of its own and waits until it serves. */
export async function serveBeside(atEnd: AtEnd, env: Env, argv: readonly string[] = []): Promise<Program> {
  const program = start(['serve', ...argv], { env });
  atEnd(() => {
    program.child.kill('SIGKILL');
  });
  await serving(program);
  return program;
}

/** Resolves once a process serves, or has ended without. */
export function serving({ child, ended }: Program): Promise<unknown> {
  let output = '';
  const serves = new Promise<void>((resolve) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('"serve.started"')) resolve();
    });
  });
  return Promise.race([serves, ended]);
}

/** What goes into the outbox. */
export interface Wish {
  readonly operation: 'create' | 'update';
  readonly kind: string;
  readonly id?: string;
  readonly data: JsonObject;
  readonly key: string;
}

/** Stores wishes by the command line, in one batch. */
export async function push({ env }: Pick<Scene, 'env'>, wishes: readonly Wish[]): Promise<void> {
  const lines = wishes.map((wish) => `${JSON.stringify(wish)}\n`);
  const ended = await run(['push', '--batch', '--json'], env, undefined, lines);
  expect(ended).toMatchObject({ code: 0 });
}

/** Stores wishes as an application does that knows no more than the table. */
export async function insert({ session }: Pick<Scene, 'session'>, wishes: readonly Wish[]): Promise<void> {
  await session.atomically(async (tx) => {
    for (const { key, kind, operation, id = null, data } of wishes)
      await tx.query(sql`
        insert into outbox (idempotency_key, kind, operation, record_id, payload)
        values (${key}, ${kind}, ${operation}, ${id}, ${JSON.stringify(data)})`);
  });
}

/** So many creates of a kind, with different codes. */
export const creates = (kind: string, count: number, from = 0): Wish[] =>
  Array.from({ length: count }, (_, i) => {
    const code = `NEW-${kind}-${from + i}`;
    return { operation: 'create', kind, data: { code, name: `Name ${from + i}` }, key: code };
  });

/** So many updates, spread over all records of `clients` and several fields of each. */
export function updates({ service }: Pick<Scene, 'service'>, count: number, from = 0): Wish[] {
  const ids = service.world.ids('clients').filter((id) => !isNew(service.world.get('clients', id)));
  const fields = ['city', 'address', 'phone'];
  return Array.from({ length: count }, (_, i) => from + i).map((i) => ({
    operation: 'update',
    kind: 'clients',
    id: String(ids[i % ids.length]),
    key: `update-${i}`,
    data: { [fields[i % fields.length] ?? '']: `Value ${i}` },
  }));
}

const isNew = (record: JsonObject | undefined): boolean => /^"NEW-/.test(JSON.stringify(record?.['code']));

/** One fault after every so many matching requests, each kind of them in turn. */
export function scattered(on: Fault['on'], every: number, actions: readonly Fault['do'][]): Fault[] {
  return Array.from({ length: 400 }, (_, i) => actions[i % actions.length]).flatMap((action, i) =>
    action === undefined ? [] : [{ ...(on && { on }), skip: i * every + (every >> 1), times: 1, do: action }],
  );
}
