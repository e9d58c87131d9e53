import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished } from 'vitest';
import type { Row } from '../../src/db/session/session.ts';
import { bystander } from '../support/postgres.ts';

/** A connection as another program has it. */
export interface Other {
  readonly run: (statement: string) => Promise<unknown>;
}

export const OTHERS = {
  SQLite: (url: string): Promise<Other> => {
    const file = new DatabaseSync(url.replace('file:', ''));
    onTestFinished(() => {
      file.close();
    });
    return Promise.resolve({
      run: (statement) => Promise.resolve().then(() => file.prepare(statement).all()),
    });
  },
  PostgreSQL: async (url: string): Promise<Other> => {
    const client = await bystander(url);
    await client.query('set search_path to bms_sync, public');
    return { run: async (statement) => (await client.query<Row>(statement)).rows };
  },
} as const;

/** What another program reads when its write is refused. */
export const REFUSED = {
  SQLite: {
    message: expect.stringContaining(
      'no such function: read_only_copy_use_bms_sync_push_or_table_outbox',
    ) as string,
  },
  PostgreSQL: {
    code: '55000',
    message: expect.stringMatching(
      /^The table bms_sync\.\w+ is read-only: \w+ is not allowed; use bms-sync push or insert into bms_sync\.outbox\.$/,
    ) as string,
  },
};

export const refusalOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'taken',
    (error: unknown) => error,
  );
