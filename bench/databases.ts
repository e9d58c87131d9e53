import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgresServer } from '../test/support/postgres-server.ts';

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
export async function postgresServer(): Promise<Databases> {
  const server = await startPostgresServer({ password: 'bench' });
  let count = 0;
  return {
    fresh: async () => {
      const admin = new pg.Client({ connectionString: server.url });
      await admin.connect();
      await admin.query(`create database bench_${++count}`);
      await admin.end();
      return server.url.replace(/postgres$/, `bench_${count}`);
    },
    close: server.stop,
  };
}
