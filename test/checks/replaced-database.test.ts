import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { expect, onTestFinished, test } from 'vitest';
import { watchReplacement } from '../../src/checks/replaced-database.ts';
import { openSession } from '../../src/db/open-session.ts';
import type { Session } from '../../src/db/session/session.ts';
import { systemClock } from '../../src/lib/time/clock.ts';
import { copyMirror } from '../support/sqlite-templates.ts';
import { TWO_KINDS } from '../support/postgres-templates.ts';
import { bystander, freshDatabaseUrl } from '../support/postgres.ts';
import { freshMirror } from '../support/temp-folder.ts';
import { jsonOf, serveMirror } from '../http/stage.ts';
import { memoryLog } from '../runs/engine/support.ts';

async function watched(url: string) {
  const opened = await openSession(url);
  const log = memoryLog();
  const watch = watchReplacement({ session: opened, clock: systemClock, logger: log.logger }, url, 'here');
  onTestFinished(async () => {
    await watch[Symbol.asyncDispose]();
    await opened.close().catch(() => undefined);
  });
  return { ...watch, log };
}

const write = (session: Session): Promise<string> =>
  session
    .atomically(() => Promise.resolve('landed'))
    .catch((error: unknown) => (error as { code: string }).code);

async function file(): Promise<string> {
  const path = freshMirror();
  await copyMirror(path, TWO_KINDS);
  return path;
}

test('a file that was removed takes no write, and does again once it is back', async () => {
  const path = await file();
  const { session, log } = await watched(`file:${path}`);
  expect(await write(session)).toBe('landed');
  renameSync(path, `${path}.away`);
  expect([await write(session), await write(session)]).toEqual(['mirror.absent', 'mirror.absent']);
  renameSync(`${path}.away`, path);
  expect(await write(session)).toBe('landed');
  const logged = log.lines.filter((line) => 'event' in line); // A look that was under way may have failed.
  expect(logged).toMatchObject([{ level: 50, event: 'mirror.replaced', code: 'mirror.absent' }]);
});

test('a file that was replaced by a copy of itself takes no write', async () => {
  const path = await file();
  const { session } = await watched(`file:${path}`);
  expect(await write(session)).toBe('landed');
  copyFileSync(path, `${path}.copy`);
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`);
  renameSync(`${path}.copy`, path);
  const stage = await serveMirror(session); // Whoever asks first finds it.
  for (const path of ['/ready', '/', '/v1/status']) expect((await stage.get(path)).status, path).toBe(503);
  expect(await jsonOf(await stage.get('/ready'))).toMatchObject({
    reasons: [expect.stringContaining('was replaced while bms-sync was running')],
  });
  expect(await write(session)).toBe('mirror.replaced');
});

test('a database that was dropped and made again takes no write, and says what to do', async () => {
  const url = await freshDatabaseUrl('template_two_kinds');
  const { session } = await watched(url);
  expect(await write(session)).toBe('landed');
  const server = new URL(url);
  const name = server.pathname.slice(1);
  server.pathname = 'postgres';
  const admin = await bystander(server.href);
  await admin.query(`drop database ${name} with (force)`);
  await admin.query(`create database ${name}`);
  const error: unknown = await session
    .atomically((tx) => tx.query(sql`select 1 from clients`))
    .catch((fault: unknown) => fault);
  // A look may have found no database for a moment.
  expect((error as { code: string }).code).toMatch(/^mirror\.(?:tables_missing|replaced)$/);
});
