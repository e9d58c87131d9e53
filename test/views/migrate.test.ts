import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS, LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { textField } from '../../src/catalog/field.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import { migrate } from '../../src/views/migrate.ts';
import { deleteMeta, readMeta } from '../../src/store/kinds/meta.ts';
import type { Row, Session } from '../../src/db/session/session.ts';
import { openSqliteSession } from '../../src/db/sqlite/session.ts';
import { runChild, startChild } from '../store/child.ts';
import {
  kindNamed,
  madeUpKind,
  mirrorFault,
  openForTest,
  putRecords,
  tempMirror,
  tempSession,
} from '../store/temp-mirror.ts';
import { tempFolder } from '../support/temp-folder.ts';

// prettier-ignore
const ENGINE = [
  'calendar_days', 'changes', 'decisions', 'deletions', 'drift', 'fields', 'issues', 'kind_state', 'links', 'mirror_meta',
  'outbox', 'outbox_attempts', 'outbox_keys', 'pages', 'run_kinds', 'runs', 'sightings', 'touched',
  'unlisted_rows', 'users', 'webhook_deliveries', 'webhook_endpoints', 'webhook_secrets', 'workers',
  'write_blocks', 'dictionary', 'erasures', 'relations', 'request_budgets', 'plans', 'plan_rows',
];

/** The catalogue's nested arrays, the ones that were only seen in the wild included. */
// prettier-ignore
const NESTED = [
  'projects_tasks', 'clients_contacts', 'departments_categories', 'categories_img_paths', 'products_medias',
  'products_variantes', 'bookings_items',
];

const schemaOf = (session: Session): Promise<Row[]> =>
  session.query(sql`select type, name, sql from sqlite_schema order by type, name`);

async function namesOf(session: Session, type: 'table' | 'view'): Promise<string[]> {
  const rows = await session.query(sql`
    select name from sqlite_schema where type = ${type} and name not like 'sqlite_%' order by name`);
  return rows.map(({ name }) => String(name));
}

const setVersion = (session: Session, version: string): Promise<unknown> =>
  session.atomically((tx) => tx.query(sql`update mirror_meta set value = ${version} where key = 'version'`));

/** The catalogue with one more field in punches. */
const longer: readonly Kind[] = KINDS.map((kind) =>
  kind.name === 'punches' ? { ...kind, fields: [...kind.fields, textField('mood')] } : kind,
);
/** A catalogue that no database can follow: its last table has a column twice. */
const broken: readonly Kind[] = [...longer, madeUpKind('broken', [textField('a'), textField('a')])];

describe('migrating', () => {
  test('draws the engine tables, a table and its views for each kind, and those of changes and status', async () => {
    const session = tempSession();
    expect(await migrate(session, KINDS)).toBe(true);
    const kinds = KINDS.map(({ name }) => name);
    expect(await namesOf(session, 'table')).toEqual([...ENGINE, ...kinds, ...NESTED].sort());
    expect(await namesOf(session, 'view')).toEqual(
      [
        ...LISTED_KINDS.flatMap(({ name }) => [`bi_${name}`, `bi_${name}_history`, `bi_deleted_${name}`]),
        ...NESTED.map((name) => `bi_${name}`),
        'client_contacts',
        'bi_changes',
        'bi_price_changes',
        'price_changes_now',
        'bi_statuses',
        'statuses_now',
        'bi_purchase_statuses',
        'bi_sync_status',
        'sync_status_now',
        'bi_issues',
        'bi_drift',
        'bi_calendar',
        'bi_fields',
        'bi_dictionary',
        'bi_relations',
      ].sort(),
    );
  });

  test('a second time is a no-op, also after the file was closed', async () => {
    const path = join(tempFolder(), 'mirror.db');
    {
      await using session = openSqliteSession(path);
      expect(await migrate(session, KINDS)).toBe(true);
      expect(await migrate(session, KINDS)).toBe(false);
    }
    const again = openForTest(path);
    const before = await schemaOf(again);
    expect(await migrate(again, KINDS)).toBe(false);
    expect(await schemaOf(again)).toEqual(before);
  });

  test('follows a longer catalogue, keeps every row, and shows the new field last among the documented', async () => {
    const session = await tempMirror();
    await session.atomically((tx) => putRecords(tx, 'punches', [{ id: '1', note: 'kept' }]));
    expect(await migrate(session, longer)).toBe(true);
    expect(await migrate(session, longer)).toBe(false);
    expect(await session.query(sql`select id, note, mood from bi_punches`)).toEqual([
      { id: 1, note: 'kept', mood: null },
    ]);
  });

  test('two processes at once on a file that is not there yet both succeed, and one of them did the work', async () => {
    const path = join(tempFolder(), 'mirror.db');
    const printed = await Promise.all([1, 2].map(() => runChild('migrate-mirror.ts', path)));
    const words = printed.map(([line = '']) => line.split(' ')[0]);
    expect(words.sort()).toEqual(['current', 'migrated']);
    const fresh = await tempMirror();
    expect(await schemaOf(openForTest(path))).toEqual(await schemaOf(fresh));
  });

  test('G12: a newer mirror is refused and left as it is', async () => {
    const session = await tempMirror();
    await setVersion(session, '99');
    const before = await schemaOf(session);
    expect(await mirrorFault(() => migrate(session, KINDS))).toBe('mirror.newer');
    expect(await mirrorFault(() => migrate(session, longer))).toBe('mirror.newer');
    expect(await schemaOf(session)).toEqual(before);
  });

  test('G12: an older mirror is brought up to this version', async () => {
    const session = await tempMirror();
    await setVersion(session, '0');
    expect(await migrate(session, KINDS)).toBe(true);
    expect(await migrate(session, KINDS)).toBe(false);
  });

  test('gives each mirror an identity of its own, for good, and one to a mirror that has none', async () => {
    const logOf = (session: Session): Promise<string | null> => readMeta(session, 'log');
    const [one, two] = [1, 2].map(() => openForTest(join(tempFolder(), 'mirror.db')));
    if (one === undefined || two === undefined) throw new Error('two mirrors');
    for (const session of [one, two]) await migrate(session, KINDS);
    const log = await logOf(one);
    expect(log).toMatch(/^[\da-f-]{36}$/);
    expect(await logOf(two)).not.toBe(log);
    await migrate(one, longer);
    expect(await logOf(one)).toBe(log);
    await one.atomically((tx) => deleteMeta(tx, 'log'));
    expect(await migrate(one, longer)).toBe(true);
    expect(await logOf(one)).not.toBe(log);
  });

  test('an analyst’s own view outlives it', async () => {
    const session = await tempMirror();
    await session.atomically(async (tx) => {
      await putRecords(tx, 'punches', [{ id: '1', note: 'kept' }]);
      await tx.execute('create view mine as select note from bi_punches');
    });
    await migrate(session, longer);
    expect(await session.query(sql`select * from mine`)).toEqual([{ note: 'kept' }]);
  });
});

describe('a migration that does not get to its end', () => {
  test('G12: one that throws leaves the old state, views included, and the next one finishes it', async () => {
    const session = await tempMirror();
    await session.atomically((tx) => putRecords(tx, 'punches', [{ id: '1', note: 'kept' }]));
    const before = await schemaOf(session);
    await expect(migrate(session, broken)).rejects.toThrow('duplicate column');
    expect(await schemaOf(session)).toEqual(before);
    expect(await migrate(session, KINDS)).toBe(false);
    expect(await migrate(session, longer)).toBe(true);
    expect(await session.query(sql`select note, mood from bi_punches`)).toEqual([
      { note: 'kept', mood: null },
    ]);
  });

  test('G12: the first one that throws leaves an empty database', async () => {
    const session = tempSession();
    await expect(migrate(session, broken)).rejects.toThrow('duplicate column');
    expect(await schemaOf(session)).toEqual([]);
    expect(await migrate(session, KINDS)).toBe(true);
  });

  /** An old mirror, as a release with a single kind had left it. */
  async function oldMirror(path: string): Promise<Row[]> {
    await using session = openSqliteSession(path);
    const old = { ...kindNamed('punches'), fields: kindNamed('punches').fields.slice(0, 4) };
    await migrate(session, [old]);
    await session.atomically((tx) => putRecords(tx, 'punches', [{ id: '1', user_id: '7' }]));
    return await schemaOf(session);
  }

  test.each([16, 45])(
    'G12: killed before its statement %i it leaves the old state, and the next start finishes it',
    async (step) => {
      const path = join(tempFolder(), 'mirror.db');
      const before = await oldMirror(path);
      const child = startChild('migrate-mirror.ts', path, String(step));
      expect(await child.lines.next()).toEqual({ done: false, value: 'holding' });
      await child.kill();

      const session = openForTest(path);
      expect(await schemaOf(session)).toEqual(before);
      expect(await migrate(session, KINDS)).toBe(true);
      expect(await session.query(sql`select user_id, note from bi_punches`)).toEqual([
        { user_id: 7, note: null },
      ]);
      const [integrity] = await session.query(sql`pragma integrity_check`);
      expect(integrity).toEqual({ integrity_check: 'ok' });
    },
  );
});
