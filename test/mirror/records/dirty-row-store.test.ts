import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../../src/mirror/session/session.ts';
import { confirmRows, readDirtyRows, saveDirtyRows } from '../../../src/mirror/records/dirty-row-store.ts';
import { DATABASES } from '../databases.ts';
import { putRecords } from '../temp-mirror.ts';

const LARGEST = '9223372036854775807';

const touch = (session: Session, response: number, ...ids: readonly string[]): Promise<void> =>
  session.atomically((tx) => saveDirtyRows(tx, 'clients', { ids, response }));

describe.each(DATABASES)('rows that were written again in %s', (_name, open) => {
  test('are told by the latest response that wrote them, after a given one', async () => {
    const session = await open();
    await touch(session, 5, '1', LARGEST);
    await touch(session, 9, '1');
    await touch(session, 7, '2');
    expect(await readDirtyRows(session, 'clients', 0)).toEqual(
      new Map([
        [LARGEST, 5],
        ['2', 7],
        ['1', 9],
      ]),
    );
    expect(await readDirtyRows(session, 'clients', 7)).toEqual(new Map([['1', 9]]));
    expect(await readDirtyRows(session, 'products', 0)).toEqual(new Map());
  });

  test('none leave no trace', async () => {
    const session = await open();
    await touch(session, 5);
    expect(await readDirtyRows(session, 'clients', 0)).toEqual(new Map());
  });

  test('of a transaction that does not land are not remembered', async () => {
    const session = await open();
    const failing = session.atomically(async (tx) => {
      await saveDirtyRows(tx, 'clients', { ids: ['1'], response: 5 });
      throw new Error('killed');
    });
    await expect(failing).rejects.toThrow('killed');
    expect(await readDirtyRows(session, 'clients', 0)).toEqual(new Map());
  });

  test('those that a later response showed as they were have it as theirs, and nothing else of them changes', async () => {
    const session = await open();
    await session.atomically(async (tx) => {
      await putRecords(tx, 'clients', [{ id: '1' }, { id: LARGEST }, { id: '3' }]);
      await confirmRows(tx, 'clients', { ids: ['1', LARGEST, '404'], response: 12 });
      await confirmRows(tx, 'clients', { ids: [], response: 13 });
    });
    const rows = await session.query(
      sql`select cast(id as text) as id, _response, _raw from clients order by clients.id`,
    );
    expect(rows.map(({ id, _response, _raw }) => [id, Number(_response), _raw])).toEqual([
      ['1', 12, '{}'],
      ['3', 1, '{}'],
      [LARGEST, 12, '{}'],
    ]);
  });
});
