import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { loadEmbeddedPostgres } from '../support/embedded-postgres.ts';
import { freePort } from '../support/redis-server.ts';

export interface OwnPostgres {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Starts a PostgreSQL server of our own, which goes with its data when it is stopped. */
export async function startPostgres(): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'bms-postgres-'));
  const port = await freePort();
  const password = 'of-the-soak';
  const EmbeddedPostgres = await loadEmbeddedPostgres();
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    password,
    persistent: false,
    createPostgresUser: userInfo().uid === 0, // PostgreSQL refuses to run as root.
    initdbFlags: ['--encoding=UTF8', '--no-locale'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'unix_socket_directories='],
    onLog: () => undefined,
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
