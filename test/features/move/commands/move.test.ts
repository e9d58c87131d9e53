import { ENGINE_TABLES } from '../../../../src/feature-hooks.ts';
import Database from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { KINDS } from '../../../../src/catalog/kinds/catalog.ts';
import { openSession } from '../../../../src/db/open-session.ts';
import type { Session } from '../../../../src/db/session/session.ts';
import { movedTables } from '../../../../src/features/move/copy-tables.ts';
import { nestedTables } from '../../../../src/store/tables/kind-table.ts';
import { saveHeartbeat } from '../../../../src/store/runs/worker-store.ts';
import { readMirroredKind } from '../../../../src/store/kinds/field-store.ts';
import { startSandbox, type Sandbox } from '../../../../sandbox/sandbox.ts';
import { document, run, settingsFor, type Env } from '../../../support/command-line.ts';
import { freshDatabaseUrl } from '../../../support/postgres.ts';
import { copyGrownMirror } from '../../../support/sqlite-templates.ts';
import { freshMirror } from '../../../support/temp-folder.ts';

const MOVED_TABLES = movedTables(ENGINE_TABLES);

const CREATE = ['push', 'create', 'clients', '--data', '{"code":"C-1","name":"Ada"}', '--key', 'order-1'];

interface Scene {
  readonly path: string;
  readonly env: Env;
  /** The address of an empty database. */
  readonly url: string;
}

async function setScene(service: Sandbox): Promise<Scene> {
  const path = freshMirror();
  await copyGrownMirror(path);
  const env = settingsFor(service, path);
  expect(await run(['pull'], env)).toMatchObject({ code: 0 });
  return { path, env, url: await freshDatabaseUrl() };
}

/** A command that is stopped before its first step: it leaves the file closed and the database empty. */
const stopped = (): AbortSignal => AbortSignal.abort();

const open = (scene: Scene): Env => ({ ...scene.env, DATABASE_URL: scene.url });

/** All rows of a table but its place in the file, in the order of their texts. */
async function rowsOf(session: Session, table: string, columns: readonly string[]): Promise<string[]> {
  const names = sql.join(
    columns.map((name) => sql.identifier(name)),
    sql`, `,
  );
  const rows = await session.query(sql`select ${names} from ${sql.identifier(table)}`);
  return rows.map((row) => JSON.stringify(columns.map((name) => row[name]))).sort();
}

test('every row of every table moves, and the views show the same', async () => {
  await using service = await startSandbox({ size: 30 });
  const scene = await setScene(service);
  service.world.update('clients', service.world.ids('clients')[0] ?? 0, { city: 'Elsewhere' });
  await run(['pull', 'clients'], scene.env);
  await run(CREATE, scene.env);
  await run(['webhooks', 'add', 'https://example.com/hook', '--name', 'erp'], scene.env);
  await run(['users', 'add', 'Ana', '--role', 'viewer'], scene.env);

  const ended = await run(['move', scene.url, '--json'], scene.env);

  expect(ended).toMatchObject({ code: 0 });
  await using file = await openSession(`file:${scene.path}`);
  await using moved = await openSession(scene.url);
  const tables = (
    await file.query(sql`
    select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by name`)
  ).map(({ name }) => String(name));
  const kinds = await Promise.all(KINDS.map((kind) => readMirroredKind(file, kind)));
  const nested = kinds.flatMap(nestedTables).map(({ name }) => name);
  const declared = MOVED_TABLES.map(({ name }) => name);
  expect([...declared, ...KINDS.map(({ name }) => name), ...nested].toSorted()).toEqual(
    tables.filter((name) => !['mirror_meta', 'dictionary', 'relations', 'calendar_days'].includes(name)),
  );
  for (const { name, columns } of MOVED_TABLES) {
    const names = columns.map((column) => column.name);
    expect([name, await rowsOf(moved, name, names)]).toEqual([name, await rowsOf(file, name, names)]);
  }
  for (const view of ['bi_clients', 'bi_clients_contacts', 'bi_projects_tasks', 'bi_punches']) {
    const [row = {}] = await file.query(sql`select * from ${sql.identifier(view)} limit 1`);
    const columns = Object.keys(row).filter((name) => !(`${name}_e4` in row));
    expect(columns.length).toBeGreaterThan(1);
    expect([view, await rowsOf(moved, view, columns)]).toEqual([view, await rowsOf(file, view, columns)]);
  }
  expect(await run(['verify', '--json'], open(scene))).toMatchObject({ code: 0 });
  const again = document(await run([...CREATE, '--json'], open(scene))) as { id: number };
  expect(again.id).toBe(1);
  expect(await moved.query(sql`select count(*) as n from outbox`)).toEqual([{ n: 1 }]);
});

test('after the move every command refuses the file, names the new address without its password, and says what to delete', async () => {
  await using service = await startSandbox({ size: 3 });
  const scene = await setScene(service);
  const moveUrl = new URL(scene.url);
  expect(moveUrl.password).not.toBe('');
  const ended = await run(['move', scene.url], scene.env);
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout).toContain(`${scene.path}.sends`);

  const commands = [
    ['pull'], ['serve'], ['status'], ['runs'], ['changes'], ['kinds'], ['record', 'clients', '1'], ['export', 'clients', '--format', 'csv'],
    ['snapshot', freshMirror()], ['forget', 'clients', '1', '--yes'], CREATE, ['plans'], ['apply', '1'], ['outbox'],
    ['outbox', 'resume'], ['deletions'], ['webhooks'], ['users'], ['verify'], ['migrate'], ['doctor'],
    ['backfill', 'clients', '--all'], ['move', '--cancel'],
  ]; // prettier-ignore
  for (const argv of commands) {
    const { code, stdout, stderr } = await run(argv, { ...scene.env, PORT: '0' });
    expect([argv, code]).toEqual([argv, 1]);
    expect(stdout + stderr).toContain(`has moved to postgres://${moveUrl.host}${moveUrl.pathname}`);
    expect(stdout + stderr).toContain('Delete the old file');
    expect(stdout + stderr).not.toContain(moveUrl.password);
  }
  const insert = `insert into outbox (idempotency_key, kind, operation, payload) values ('k', 'clients', 'create', '{}')`;
  expect(() => executeOn(scene.path, insert)).toThrow('nothing more is stored in this file');
  expect(await run(['move', scene.url], scene.env)).toMatchObject({ code: 0 }); // Repeated, it has nothing to do.
});

function executeOn(path: string, statement: string): void {
  const file = new Database(path);
  try {
    file.exec(statement);
  } finally {
    file.close();
  }
}

test('while it moves, the file is read and not written, the database is refused, and giving up opens the file again', async () => {
  await using service = await startSandbox({ size: 3 });
  const scene = await setScene(service);
  expect(await run(['move', scene.url], scene.env, stopped())).toMatchObject({ code: 3 });

  expect(await run(['status'], scene.env)).toMatchObject({ code: 0 });
  for (const argv of [
    ['serve'],
    ['pull'],
    ['migrate'],
    CREATE,
    ['outbox', 'resume'],
    ['webhooks', 'add', 'https://example.com', '--name', 'a'],
    ['verify'],
  ]) {
    const ended = await run(argv, { ...scene.env, PORT: '0' });
    expect([argv, ended.code, ended.stderr]).toEqual([
      argv,
      1,
      expect.stringContaining('is moving to postgres://') as string,
    ]);
  }
  const insert = `insert into outbox (idempotency_key, kind, operation, payload) values ('k', 'clients', 'create', '{}')`;
  expect(() => executeOn(scene.path, insert)).toThrow('nothing more is stored');
  for (const argv of [['serve'], ['status'], ['pull'], CREATE])
    expect(await run(argv, { ...open(scene), PORT: '0' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('unfinished move') as string,
    });
  expect(await run(['doctor', '--json'], scene.env)).toMatchObject({
    stdout: expect.stringContaining('mirror.moving') as string,
  });
  // A `serve` that has opened the database just before.
  await using opened = await openSession(scene.url);
  const worker = { owner: 'late', roles: ['outbound'] };
  const late = { code: 'mirror.unfinished' };
  await expect(saveHeartbeat(opened, worker)).rejects.toMatchObject(late);

  expect(await run(['move', '--cancel'], scene.env)).toMatchObject({ code: 0 });
  executeOn(scene.path, insert);
  expect(await run(['pull'], scene.env)).toMatchObject({ code: 0 });
  expect(await run(['move', scene.url], scene.env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not empty') as string,
  });
  expect(await run(['pull'], scene.env)).toMatchObject({ code: 0 });
});

test('numbers go on where the counters of the file stand, not behind the highest row', async () => {
  await using service = await startSandbox({ size: 3 });
  const scene = await setScene(service);
  executeOn(
    scene.path,
    `insert into sqlite_sequence values ('changes', 40);
    insert into sqlite_sequence values ('outbox', 7)`,
  );
  expect(await run(['move', scene.url], scene.env)).toMatchObject({ code: 0 });
  service.world.update('clients', service.world.ids('clients')[0] ?? 0, { city: 'Elsewhere' });
  expect(await run(['pull', 'clients'], open(scene))).toMatchObject({ code: 0 });
  await run(CREATE, open(scene));

  await using moved = await openSession(scene.url);
  expect(
    await moved.query(sql`select min(seq) as seq, (select min(id) from outbox) as id from changes`),
  ).toEqual([{ seq: 41, id: 8 }]);
});

test('a move is refused that would leave rows behind, or fill what another one fills', async () => {
  await using service = await startSandbox({ size: 3 });
  const scene = await setScene(service);
  const other = await setScene(service);
  expect(await run(['pull', 'clients'], open(scene))).toMatchObject({ code: 0 });
  expect(await run(['move', scene.url], scene.env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not empty') as string,
  });
  expect(await run(['move', other.url], scene.env, stopped())).toMatchObject({ code: 3 });
  expect(await run(['move', other.url], other.env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not empty') as string,
  });
  expect(await run(['pull'], other.env)).toMatchObject({ code: 0 }); // Its file is as it was.
  const third = await freshDatabaseUrl();
  expect(await run(['move', third], scene.env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is moving to') as string,
  });
  expect(await run(['move', 'file:./other.db'], scene.env)).toMatchObject({ code: 2 });
  expect(await run(['move'], scene.env)).toMatchObject({ code: 2 });
  expect(await run(['move', third], open(scene))).toMatchObject({ code: 2 });
});
