import { sql, type SQL } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { liveColumns, newRecordsSince } from '../../../src/store/records/record-store.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { opened } from '../../outbound/stage.ts';
import { DATABASES } from '../databases.ts';
import { NOON_TEXT, putRecords } from '../temp-mirror.ts';

async function idsIn(session: Session): Promise<string[]> {
  const ids: string[] = [];
  for await (const rows of liveColumns(session, 'clients', ['_raw']))
    for (const { id, _raw } of rows) {
      expect(_raw).toBe(`{"id":${id}}`);
      ids.push(id);
    }
  return ids;
}

const put = (session: Session, ids: readonly string[], deletedAt: string | null = null): Promise<void> =>
  session.atomically((tx) =>
    putRecords(
      tx,
      'clients',
      ids.map((id) => ({ id, _raw: `{"id":${id}}`, _deleted_at: deletedAt })),
    ),
  );

describe.each(DATABASES)('live records in %s', (_name, open) => {
  test('are handed out in the order of their ids, those that are deleted left out', async () => {
    const session = await open();
    expect(await idsIn(session)).toEqual([]);
    await put(session, ['10', '9', '9223372036854775807', '9007199254740993']);
    await put(session, ['11'], NOON_TEXT);
    expect(await idsIn(session)).toEqual(['9', '10', '9007199254740993', '9223372036854775807']);
  });
});

test('new records are found by the index of changes: SQLite does not read the whole table', async () => {
  const { session } = await opened();
  const asked: SQL[] = [];
  const watched: Session = {
    ...session,
    query: (statement) => {
      asked.push(statement);
      return session.query(statement);
    },
  };
  expect(await newRecordsSince(watched, 'clients', '2099-01-01 00:00:00.000')).toEqual([]);
  const plan = JSON.stringify(await session.query(sql`explain query plan ${asked[0]}`));
  expect(plan).toContain('SEARCH k USING INDEX clients__changed_at_index');
});
