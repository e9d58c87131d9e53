import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../../src/db/session/session.ts';
import { findRecords } from '../../../src/mirror/records/find-records.ts';
import { makeReportIndexes } from '../../../src/mirror/shape/grow-kind-tables.ts';
import { DATABASES } from '../databases.ts';
import { NOON_TEXT, kindNamed, putRecords } from '../temp-mirror.ts';

const clients = kindNamed('clients');

async function fill(session: Session): Promise<void> {
  await session.atomically(async (tx) => {
    await putRecords(tx, 'clients', [
      { id: '5', code: 'AB-12', name: 'Noël Côté', phone: '(514) 555-0199', email: 'Noel.Cote@exemple.ca' },
      { id: '12', code: '00012', name: 'L’Œuvre & fils', phone: '418.555.0142' },
      { id: '40', code: 'C40', name: '100% É_quipé \\ inc.', _deleted_at: NOON_TEXT },
    ]);
    await tx.append({
      table: 'clients_contacts',
      columns: ['parent_id', 'position', 'nom', 'cell'],
      rows: [
        [12, 0, 'Zoé Roy', '450 555-0111'],
        [12, 1, 'Zoé Gagné', null],
      ],
    });
    await tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, epoch, baseline_at)
      values ('clients', 1, 'complete', 1, 1, ${NOON_TEXT})`);
  });
}

describe.each(DATABASES)('in %s', (_name, open) => {
  test.each([
    ['noel cote', ['5']],
    ['CÔTÉ noël', ['5']],
    ['514-555-0199', ['5']],
    ['5550199', ['5']],
    ['ab 12', ['5']],
    ['noel.cote@EXEMPLE', ['5']],
    ['12', ['5', '12']],
    ['oeuvre', ['12']],
    ['zoe', ['12']],
    ['(450) 555', ['12']],
    ['zoe roy', ['12']],
    ['roy gagne', []], // Each word is of another contact.
    ['100%', ['40']],
    ['e_q', ['40']],
    ['555', ['5', '12']],
    ['%', []],
    ["o'x", []],
    ['', []],
    ['nobody', []],
  ])('%j finds its records, deleted ones too, with the index and without', async (text, ids) => {
    const session = await open();
    await fill(session);
    const found = async (): Promise<string[]> =>
      (await findRecords(session, clients, { text, limit: 10 })).map(({ id }) => id);
    expect(await found()).toEqual(ids);
    await makeReportIndexes(session, [clients]);
    expect(await found()).toEqual(ids);
  });

  test('page by page in the order of the ids', async () => {
    const session = await open();
    await fill(session);
    const first = await findRecords(session, clients, { text: '555', limit: 1 });
    const second = await findRecords(session, clients, { text: '555', limit: 1, after: '5' });
    expect([first, second].map(([one]) => one?.id)).toEqual(['5', '12']);
  });

  test('by an index, which is made anew when a column to search comes', async () => {
    const session = await open();
    await fill(session);
    await makeReportIndexes(session, [clients]);
    const before = await foundIndexes(session);
    expect(before).toHaveLength(2);
    await makeReportIndexes(session, [
      { ...clients, fields: clients.fields.filter(({ name }) => name !== 'email') },
    ]);
    const after = await foundIndexes(session);
    expect([after.length, after.filter((name) => before.includes(name)).length]).toEqual([2, 1]);
  });
});

const foundIndexes = async (session: Session): Promise<string[]> => {
  const names =
    session.dialect === 'sqlite'
      ? sql`select name from sqlite_schema where type = 'index' and name like '%found%' order by 1`
      : sql`select indexname as name from pg_indexes where indexname like '%found%' order by 1`;
  return (await session.query(names)).map(({ name }) => String(name));
};
