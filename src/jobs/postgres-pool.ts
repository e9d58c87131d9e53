import { runMigrations } from 'bullmq';
import type { PgPool } from 'bullmq';
import pg from 'pg';
import { KEEP_ALIVE, LIVENESS_SETTINGS, settingStatements } from '../mirror/postgres-liveness.ts';
import type { OnFault } from './job-store.ts';

export interface PoolTarget {
  readonly url: string;
  /** The most connections at once. */
  readonly max: number;
  readonly connectMs: number;
}

// pg waits for the promise, which its types do not know yet.
interface PoolOptions extends Omit<pg.PoolConfig, 'onConnect'> {
  readonly onConnect: (client: pg.ClientBase) => Promise<void>;
}

const SCHEMA = 'bullmq'; // BullMQ takes none other with a pool that it has not made.
const STATEMENT_MS = 30_000;

/**
 * Opens the connections that BullMQ works with, and sets up its tables on the first of them.
 *
 * With a pool of its own, BullMQ leaves connections without a listener at times: one that the server ended at such a
 * moment, above all while a process starts, would end the process.
 */
export function openPool({ url, max, connectMs }: PoolTarget, onFault: OnFault): PgPool {
  let isMigrated = false;
  const options: PoolOptions = {
    ...{ connectionString: url, application_name: 'bms-sync', max, connectionTimeoutMillis: connectMs },
    ...{ query_timeout: STATEMENT_MS, ...KEEP_ALIVE },
    onConnect: async (client) => {
      client.on('error', (error) => {
        // Nobody else listens: BullMQ would hold on to a dead connection for good.
        if (client.listenerCount('error') === 1) onFault(error, 'fatal');
      });
      if (!isMigrated) await runMigrations(client, SCHEMA);
      isMigrated = true;
      await client.query(settingStatements({ ...LIVENESS_SETTINGS, search_path: SCHEMA }).join('; '));
    },
  };
  const pool = new pg.Pool(options);
  pool.on('error', () => undefined); // BullMQ tells of it.
  return pool as PgPool;
}
