import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { kindNamed } from '../../../src/catalog/catalog.ts';
import { makeReportIndexes } from '../../../src/mirror/shape/report-indexes.ts';
import type { Kind } from '../../../src/catalog/kind.ts';
import type { Session } from '../../../src/mirror/session/session.ts';
import { readTexts } from '../../../src/mirror/tables/rows.ts';
import { DATABASES, mirrorIn } from '../../feed/support.ts';
import { bystander } from '../../support/postgres.ts';
import { NOON_TEXT, mirrorFault } from '../temp-mirror.ts';

const projects: Kind = kindNamed('projects') ?? expect.fail('no projects');
const bookings: Kind = kindNamed('bookings') ?? expect.fail('no bookings');
const clients: Kind = kindNamed('clients') ?? expect.fail('no clients');

const indexesOf = (session: Session): Promise<string[]> =>
  readTexts(
    session,
    session.dialect === 'sqlite'
      ? sql`select name from sqlite_schema where type = 'index' and name like '%\\_index' escape '\\'
          and tbl_name in ('projects', 'bookings', 'clients') order by 1`
      : sql`select c.relname from pg_index i join pg_class c on c.oid = indexrelid
          join pg_class t on t.oid = indrelid
          where i.indisvalid and c.relname like '%\\_index' and t.relname in ('projects', 'bookings', 'clients') order by 1`,
  );

const endBaseline = (session: Session, ...kinds: readonly string[]): Promise<void> =>
  session.atomically(async (tx) => {
    for (const kind of kinds)
      await tx.query(sql`
        insert into kind_state (kind, tick, state, complete_sweeps, epoch, baseline_at)
        values (${kind}, 1, 'complete', 1, 1, ${NOON_TEXT})`);
  });

describe.each(DATABASES)('%s', (database) => {
  test('references and dates that have a column are indexed once the baseline is over', async () => {
    const { session } = await mirrorIn(database);
    await makeReportIndexes(session, [projects, bookings, clients]);
    expect(await indexesOf(session)).toEqual([]);
    await endBaseline(session, 'projects', 'bookings');
    await makeReportIndexes(session, [projects, bookings, clients]);
    expect(await indexesOf(session)).toEqual(['projects_client_id_index']);
    await session.atomically((tx) => tx.execute('alter table bookings add column pickup_date date'));
    for (const again of [1, 2]) {
      await makeReportIndexes(session, [projects, bookings, clients]);
      expect([again, await indexesOf(session)]).toEqual([
        again,
        ['bookings_pickup_date_index', 'projects_client_id_index'],
      ]);
    }
  });
});

test('PostgreSQL: an index that a long transaction left half made is made again after the next run', async () => {
  const { session, url } = await mirrorIn('PostgreSQL');
  await endBaseline(session, 'projects');
  const reader = await bystander(url);
  await reader.query('begin isolation level repeatable read; select count(*) from bms_sync.projects');
  expect(await mirrorFault(() => makeReportIndexes(session, [projects]))).toBe('mirror.locked');
  expect(await indexesOf(session)).toEqual([]);
  await reader.query('rollback');
  await makeReportIndexes(session, [projects]);
  expect(await indexesOf(session)).toEqual(['projects_client_id_index']);
});
