import { onTestFinished } from 'vitest';
import { openSession } from '../../src/db/open-session.ts';
import type { Session, SqlValue } from '../../src/db/session/session.ts';
import { GROWN_URLS } from '../support/grown-urls.ts';

export interface Mirror {
  readonly session: Session;
  readonly url: string;
}

/** The databases by name, for tests that hold on both. */
export const DATABASES = ['SQLite', 'PostgreSQL'] as const;

/** Where only what stands above the session is shown, which knows no database. */
export const ONE_DATABASE = DATABASES.slice(0, 1);

/** A migrated mirror of its own in one of the databases. */
export async function mirrorIn(database: (typeof DATABASES)[number]): Promise<Mirror> {
  const url = await GROWN_URLS[database]();
  const session = await openSession(url);
  onTestFinished(() => session.close());
  return { session, url };
}

export interface StoredChange {
  readonly kind?: string;
  readonly record_id: string;
  readonly change: string;
  readonly observed_from?: string | null;
  readonly observed_at: string;
  readonly before?: string | null;
  readonly after?: string | null;
  readonly fields?: string;
  readonly origin?: string;
  readonly run_id?: number | null;
}

/** Stores events as they are given; what is not given is plain. */
export async function putChanges(session: Session, ...changes: readonly StoredChange[]): Promise<void> {
  const plain = {
    kind: 'clients',
    observed_from: null,
    before: null,
    after: null,
    fields: '{}',
    origin: 'service',
    run_id: null,
  };
  const rows = changes.map((change): Readonly<Record<string, SqlValue>> => ({ ...plain, ...change }));
  // prettier-ignore
  const columns = [
    'kind', 'record_id', 'change', 'observed_from', 'observed_at', 'before', 'after', 'fields', 'origin',
    'run_id',
  ];
  await session.atomically((tx) =>
    tx.insertRows({
      table: 'changes',
      columns,
      rows: rows.map((row) => columns.map((name) => row[name] ?? null)),
    }),
  );
}

/** An instant of the test's day: `at('12:30')`. */
export const at = (time: string): string => `2026-03-01 ${time}:00.000`;
