import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../../src/db/session/session.ts';
import { findRecords } from '../../../src/store/records/find-records.ts';
import { createReportIndexes } from '../../../src/store/schema/change-kind-tables.ts';
import { redecode } from '../../../src/store/schema/redecode.ts';
import { DATABASES } from '../databases.ts';
import { NOON, NOON_TEXT, kindNamed, putRecords } from '../temp-mirror.ts';

const clients = kindNamed('clients');

const RECORDS = [
  { id: 5, code: 'AB-12', name: 'Noël Côté', phone: '(514) 555-0199', email: 'Noel.Cote@exemple.ca' },
  {
    id: 12,
    code: '00012',
    name: 'L’Œuvre & fils',
    phone: '418.555.0142',
    contacts: [{ nom: 'Zoé Roy', cell: '450 555-0111' }, { nom: 'Zoé Gagné' }],
  },
  { id: 40, code: 'C40', name: '100% É_quipé \\ inc.' },
];

async function fill(session: Session): Promise<void> {
  await session.atomically(async (tx) => {
    const rows = RECORDS.map((record) => {
      const deletedAt = record.id === 40 ? NOON_TEXT : null;
      return { id: String(record.id), _deleted_at: deletedAt, _raw: JSON.stringify(record) };
    });
    await putRecords(tx, 'clients', rows);
    await tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, epoch, baseline_at)
      values ('clients', 1, 'complete', 1, 1, ${NOON_TEXT})`);
  });
  await redecode(session, clients, { now: NOON });
  await createReportIndexes(session, [clients]);
}

/** What is typed, and the ids of the records that it finds, deleted ones too. */
const FOUND: Readonly<Record<string, readonly string[]>> = {
  'noel cote': ['5'],
  'CÔTÉ noël': ['5'],
  '514-555-0199': ['5'],
  '5550199': ['5'],
  '1-514-555-0199': ['5'],
  '+15145550199': ['5'],
  'côté 1 (514) 555 0199': ['5'],
  '514 555 0142': [], // Both stand in no one number.
  'ab 12': ['5'],
  'noel.cote@EXEMPLE': ['5'],
  '12': ['12', '5'], // Its id comes first.
  oeuvre: ['12'],
  zoe: ['12'],
  '(450) 555': ['12'],
  'zoe roy': ['12'],
  'roy gagne': [], // Each word is of another contact.
  '100%': ['40'],
  e_q: ['40'],
  '555': ['5', '12'],
  '%': [],
  "o'x": [],
  '': [],
  nobody: [],
};

describe.each(DATABASES)('in %s', (_name, open) => {
  test('a text finds its records, deleted ones too, page by page in the order of the ids', async () => {
    const session = await open();
    await fill(session);
    const find = async (text: string, limit = 10, after?: string): Promise<string[]> =>
      (await findRecords(session, clients, { text, limit, after })).map(({ id }) => id);
    const found: Record<string, string[]> = {};
    for (const text of Object.keys(FOUND)) found[text] = await find(text);
    expect(found).toEqual(FOUND);
    expect([await find('555', 1), await find('555', 1, '5')]).toEqual([['5'], ['12']]);
  });

  test('what has the natural key or the id first, and on no later page', async () => {
    const session = await open();
    await fill(session);
    await session.atomically((tx) =>
      tx.write(sql`update clients set code = 'Roy', _key = '["roy"]' where id = 40`),
    );
    await session.atomically((tx) => tx.write(sql`update clients set _search = 'roy'`));
    const page = async (after?: string) =>
      (await findRecords(session, clients, { text: ' Roy ', limit: 2, after })).map(({ id }) => id);
    expect(await page()).toEqual(['40', '5', '12']);
    expect(await page('5')).toEqual(['12']);
  });

  test('by indexes that are made once the baseline is over, in PostgreSQL once it would read long without', async () => {
    const session = await open();
    const isSqlite = session.dialect === 'sqlite';
    const names = isSqlite
      ? sql`select name from sqlite_schema where type = 'index' and name like '%search%' order by 1`
      : sql`select indexname as name from pg_indexes where indexname like '%search%' order by 1`;
    const indexes = async () => (await session.query(names)).map(({ name }) => name);
    // That of earlier releases, in whose place the new one is made.
    if (isSqlite)
      await session.atomically((tx) => tx.execute('create index clients_search_index on clients (id)'));
    await fill(session);
    expect(await indexes()).toEqual(
      isSqlite ? ['clients_contacts_search_index', 'clients_live_search_index'] : [],
    );
    if (isSqlite) return;
    await session.atomically((tx) =>
      tx.query(sql`
        insert into clients (id, _first_seen_at, _changed_at, _response, _raw)
        select n, ${NOON_TEXT}, ${NOON_TEXT}, 1, '{}' from generate_series(1000, 201000) n`),
    );
    await createReportIndexes(session, [clients]);
    expect(await indexes()).toEqual(['clients_search_index']);
  });
});
