import { sql } from 'drizzle-orm';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Session } from '../../src/db/session/session.ts';
import { TABLES_SCHEMA, identifier } from '../../src/db/session/sql-text.ts';
import { readTexts } from '../../src/db/rows/rows.ts';
import { createLogger } from '../../src/lib/log/logger.ts';
import { THIS_PROCESS } from '../../src/lib/owner.ts';
import { pullKinds } from '../../src/pull/sweep/pull-kinds.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { openSource } from '../../src/source/source.ts';
import { fakeClock } from './fake-clock.ts';
import { KEEP_ALL } from './retention.ts';
import { SOURCE_SETTINGS } from './source-settings.ts';

/** What the mirror knows of its own shape. */
const SHAPE = ['fields', 'dictionary', 'relations', 'mirror_meta', 'calendar_days'];

const TABLES = {
  sqlite: sql`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`,
  postgres: sql`select tablename from pg_tables where schemaname = ${TABLES_SCHEMA}`,
};

/**
 * Gives a migrated mirror the columns of all fields that the sandbox sends, and no row: to add them takes a first pull most of
 * its time. It pulls once, and forgets all but the columns.
 */
export async function growAsSandbox(session: Session): Promise<void> {
  const meta = await session.query(sql`select key, value from mirror_meta`);
  await pullOnce(session);
  const tables = await readTexts(session, TABLES[session.dialect]);
  const emptied = tables.filter((name) => !SHAPE.includes(name)).map(identifier);
  await session.atomically(async (tx) => {
    await tx.query(sql`delete from mirror_meta`);
    for (const { key, value } of meta)
      await tx.query(sql`insert into mirror_meta (key, value) values (${key}, ${value})`);
    if (session.dialect === 'postgres') await tx.execute(`truncate ${emptied.join()} restart identity`);
    else
      await tx.execute(
        emptied.map((name) => `delete from ${name};`).join('') + 'delete from sqlite_sequence',
      );
  });
}

async function pullOnce(session: Session): Promise<void> {
  await using service = await startSandbox({ size: 60 });
  const clock = fakeClock();
  const logger = createLogger({ level: 'silent', secrets: [], destination: process.stderr });
  const address = { baseUrl: service.url, token: service.token };
  await using source = openSource({ ...SOURCE_SETTINGS, ...address }, { clock, logger });
  await pullKinds(
    { session, source, clock, logger, owner: THIS_PROCESS },
    {
      kinds: LISTED_KINDS,
      baseUrl: service.url,
      acceptNewSource: false,
      deletions: { graceSeconds: 900, holdAbove: { rows: 5, share: 0.02 } },
      repeatBelowPages: 20,
      ignoreFields: {},
      retention: { ...KEEP_ALL, runsDays: 30 },
    },
  );
}
