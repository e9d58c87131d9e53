import { sql } from 'drizzle-orm';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KINDS, LISTED_KINDS, kindNamed } from '../../src/catalog/catalog.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import { recordDecoder } from '../../src/diff/decode-record.ts';
import { compactJson } from '../../src/lib/json/json.ts';
import { growKindTable } from '../../src/mirror/shape/grow-kind-tables.ts';
import { identifier } from '../../src/mirror/session/sql-text.ts';
import { writtenColumns, writtenRow } from '../../src/mirror/tables/kind-table.ts';
import { writeMeta } from '../../src/mirror/kinds/meta.ts';
import { migrate } from '../../src/mirror/shape/migrate.ts';
import type { Row, Session, Transaction } from '../../src/mirror/session/session.ts';
import { syncStatusViews } from '../../src/mirror/views/engine-views.ts';
import { selectOf } from '../../src/mirror/views/draw-views.ts';
import { kindViews } from '../../src/mirror/views/views.ts';
import { idsText } from '../../src/mirror/sightings/page-store.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { openForTest as openPostgres } from '../mirror/postgres-mirror.ts';
import { tempSession } from '../mirror/temp-mirror.ts';
import { contentOf, pullFrom, sandbox, truthOf } from '../pull/support.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { KEEP_ALL } from '../support/retention.ts';

const LAST_YEAR = '2025-12-01 08:00:00.000';
const CLIENTS: readonly ListedKind[] = LISTED_KINDS.filter(({ name }) => name === 'clients');
const clients = kindNamed('clients') ?? expect.fail('no clients');

const DATABASES: readonly (readonly [name: string, open: () => Promise<Session>])[] = [
  ['SQLite', () => Promise.resolve(tempSession())],
  ['PostgreSQL', async () => openPostgres(await freshDatabaseUrl())],
];

/** A mirror as the release before change events left it: its tables and views, and two complete pulls of all clients. */
async function oldMirror(session: Session, service: Sandbox): Promise<void> {
  const { dialect } = session;
  const migrationsFolder = join(import.meta.dirname, '../../migrations', dialect);
  const [first] = readMigrationFiles({ migrationsFolder });
  await session.atomically(async (tx) => {
    for (const statement of first?.sql ?? []) await tx.execute(statement);
    for (const kind of KINDS) await growKindTable(tx, kind, dialect);
    const ofKinds = KINDS.flatMap((kind) => kindViews(kind, dialect));
    const views = [...ofKinds.filter(({ name }) => !name.endsWith('_history')), statusBefore(dialect)];
    for (const view of views)
      await tx.execute(`create view ${identifier(view.name)} as ${selectOf(view, [])}`);
    await writeMeta(tx, 'version', '1');
    await writeMeta(tx, 'migrations', '1');
    await writeMeta(tx, 'layout', 'of the release before');
    await writeMeta(tx, 'source.base_url', service.url);
    await landOld(tx, service);
  });
}

/** It had every column already, and none of the tables that held deletions. */
function statusBefore(dialect: Session['dialect']) {
  const [{ columns, from } = expect.fail('no view')] = syncStatusViews(LISTED_KINDS, dialect);
  const expressionOf = ({ name, expression }: (typeof columns)[number]): string =>
    name === 'held_deletions' ? '0' : expression;
  const before = columns.map((column) => ({ ...column, expression: expressionOf(column) }));
  return { name: 'bi_sync_status', meaning: '', columns: before, from };
}

async function landOld(tx: Transaction, { world }: Sandbox): Promise<void> {
  const ids = world.ids('clients');
  await tx.putRows({
    table: 'clients',
    columns: writtenColumns(clients, tx.dialect),
    rows: ids.map((id) => {
      const record = world.get('clients', id) ?? {};
      const own = [compactJson(record), LAST_YEAR, LAST_YEAR, null, 2, 2];
      return writtenRow(clients, tx.dialect, { values: recordDecoder(clients)(record).values, own });
    }),
  });
  await tx.query(sql`
    insert into kind_state (kind, tick, state, complete_sweeps, epoch, last_sweep_at, last_change_at)
    values ('clients', 4, 'complete', 2, 2, ${LAST_YEAR}, ${LAST_YEAR})`);
  for (const answered of [2, 4])
    await tx.query(sql`
      insert into sightings (kind, answered, sent, run_id, page, ids, rows, end_rows, total, seen_at)
      values ('clients', ${answered}, ${answered - 1}, ${answered / 2}, 1, ${idsText(ids.map(String))},
        ${ids.length}, ${ids.length}, ${ids.length}, ${LAST_YEAR})`);
  await tx.query(sql`
    insert into runs (command, kinds, state, requested_at, started_at, finished_at)
    values ('pull', '["clients"]', 'done', ${LAST_YEAR}, ${LAST_YEAR}, ${LAST_YEAR})`);
}

const pull = (service: Sandbox, session: Session) =>
  pullFrom(service, session, { request: { kinds: CLIENTS, retention: KEEP_ALL } });

async function events(session: Session): Promise<Row[]> {
  return session.query(sql`select record_id, change from changes order by seq`);
}

describe.each(DATABASES)('a %s mirror of the release before change events', (_name, open) => {
  test('migrates with all that it holds, once', async () => {
    const service = await sandbox();
    const session = await open();
    await oldMirror(session, service);
    const rows = await session.query(sql`select * from clients order by id`);

    expect(await migrate(session, KINDS)).toBe(true);
    expect(await migrate(session, KINDS)).toBe(false);

    expect(await session.query(sql`select * from clients order by id`)).toEqual(rows);
    expect(rows).toHaveLength(service.world.count('clients'));
    expect(
      await session.query(sql`select state, held_deletions from bi_sync_status where kind = 'clients'`),
    ).toEqual([{ state: 'complete', held_deletions: await zero(session) }]);
    expect(await session.query(sql`select id from bi_clients_history`)).toHaveLength(rows.length);
    expect(await events(session)).toEqual([]);
    expect(await session.query(sql`select state from runs`)).toEqual([{ state: 'done' }]);
  });

  test('certifies its list with the next pull, which writes no row that has not changed, and no event of its own', async () => {
    const service = await sandbox();
    const session = await open();
    await oldMirror(session, service);
    await migrate(session, KINDS);

    const { kinds } = await pull(service, session);

    const rows = service.world.count('clients');
    expect(kinds).toMatchObject([{ state: 'certified', rows, created: 0, updated: 0, unchanged: rows }]);
    expect(await events(session)).toEqual([]);
    const touched = await session.query(sql`select id from clients where _changed_at <> ${LAST_YEAR}`);
    expect(touched).toEqual([]);
    const [state] = await session.query(sql`
      select certified_at, baseline_at, complete_sweeps from kind_state where kind = 'clients'`);
    expect(state?.['certified_at']).not.toBeNull();
    expect(state?.['baseline_at']).not.toBeNull();
    expect(Number(state?.['complete_sweeps'])).toBe(3);
  });

  test('has events from then on: what changed meanwhile, what comes, and what goes', async () => {
    const service = await sandbox();
    const { world } = service;
    const session = await open();
    await oldMirror(session, service);
    await migrate(session, KINDS);
    const [changed = 0, gone = 0] = world.ids('clients');
    world.update('clients', changed, { name: 'Renamed while nobody looked' });
    world.insert('clients', { code: 'ZZZ-1', name: 'Before the baseline' });
    await pull(service, session);
    expect(await events(session)).toEqual([{ record_id: String(changed), change: 'updated' }]);

    const { id: late = null } = world.insert('clients', { code: 'ZZZ-2', name: 'After it' });
    world.remove('clients', gone);
    const { kinds } = await pull(service, session);

    expect(kinds).toMatchObject([{ reason: 'absences_unproven', created: 1, deleted: 0 }]);
    expect((await events(session)).slice(1)).toEqual([{ record_id: compactJson(late), change: 'created' }]);
    expect(await session.query(sql`select record_id, state from deletions`)).toEqual([
      { record_id: String(gone), state: 'suspected' },
    ]);
    const content = await contentOf(session);
    const truth = truthOf(service)['clients'] ?? [];
    expect(content['clients']).toEqual(expect.arrayContaining(truth));
    expect(content['clients']).toHaveLength(truth.length + 1);
  });
});

/** A count is a number in one database and a text in the other. */
async function zero(session: Session): Promise<unknown> {
  const [row] = await session.query(sql`select count(*) as none from deletions`);
  return row?.['none'];
}
