import { passed } from '../../lib/check-result.ts';
import type { CheckResult } from '../../lib/check-result.ts';

const TIMEOUT_MS = 5_000;

/** Checks whether the PostgreSQL for the queues answers and allows us to create the queues' tables. */
export async function checkPostgresQueue(url: string): Promise<CheckResult> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: TIMEOUT_MS });
  client.on('error', () => undefined); // The pending query rejects with it.
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string; may: boolean }>(
      `select current_setting('server_version') as version, has_database_privilege(current_database(), 'create') as may`,
    );
    return judge(rows[0]);
  } catch (error) {
    return {
      ...{ name: 'queue', ok: false, code: 'jobs.postgres_unreachable' },
      detail: `PostgreSQL does not answer: ${error instanceof Error ? error.message : String(error)}`,
      hint: 'See whether it runs and whether host, port, user and password in QUEUE_URL are right; work goes on without it, a little later.',
    };
  } finally {
    await client.end().catch(() => undefined); // It may never have been connected.
  }
}

function judge(row: { readonly version: string; readonly may: boolean } | undefined): CheckResult {
  const detail = `PostgreSQL ${row?.version ?? 'unknown'} answers`;
  if (row?.may === true) return passed('queue', detail);
  return {
    ...{ name: 'queue', ok: false, code: 'jobs.postgres_no_schema' },
    detail: `${detail}, and lets this user make no schema`,
    hint: 'GRANT CREATE ON DATABASE … TO the user in QUEUE_URL: the queues have a schema of their own.',
  };
}
