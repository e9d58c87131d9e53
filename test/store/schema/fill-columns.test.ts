import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { readTexts } from '../../../src/db/rows/rows.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { deleteMeta, readMeta } from '../../../src/store/kinds/meta.ts';
import { fillColumn, hasUnfilled } from '../../../src/store/schema/fill-columns.ts';
import { migrate } from '../../../src/views/migrate.ts';
import { putEntry } from '../outbox/entries.ts';
import { DATABASES } from '../databases.ts';
import { kindNamed, putRecords } from '../temp-mirror.ts';

const clients = kindNamed('clients');

/** A mirror as an older release leaves it: without the column, and with keys of entries in its own spelling. */
async function olderMirror(session: Session, rows: number): Promise<void> {
  await session.atomically(async (tx) => {
    await putRecords(
      tx,
      'clients',
      Array.from({ length: rows }, (_, at) => ({ id: String(at + 1), code: `É ${at + 1} `, _raw: '{}' })),
    );
    await tx.execute('alter table clients drop column _key');
    await deleteMeta(tx, 'layout');
  });
}

const keys = (session: Session) =>
  readTexts(session, sql`select coalesce(_key, 'null') from clients order by id limit 3`);
const unfilled = async (session: Session) =>
  Number((await readTexts(session, sql`select count(*) from clients where _key is null`))[0]);

describe.each(DATABASES)('a column that an older mirror lacks, in %s,', (_name, open) => {
  test('is filled in slices from the rows’ own columns, and goes on after an interruption', async () => {
    const session = await open();
    await olderMirror(session, 2_500);
    expect(await migrate(session, KINDS)).toBe(true);
    expect([await hasUnfilled(session, '_key'), await unfilled(session)]).toEqual([true, 2_500]);

    const stop = new AbortController();
    const stopping = {
      ...session,
      atomically: <T>(work: Parameters<typeof session.atomically<T>>[0]) => {
        stop.abort();
        return session.atomically(work);
      },
    };
    await fillColumn(stopping, clients, '_key', stop.signal);
    expect([await readMeta(session, 'filled.clients._key'), await unfilled(session)]).toEqual([
      '1000',
      1_500,
    ]);

    await fillColumn(session, clients, '_key');
    expect([await hasUnfilled(session, '_key'), await unfilled(session)]).toEqual([false, 0]);
    expect(await keys(session)).toEqual(['["é 1"]', '["é 2"]', '["é 3"]']);
  });

  test('the keys of open and done creates are computed anew with it', async () => {
    const session = await open();
    const payload = '{"code":"A\\u00a01 "}';
    const entries = [
      await putEntry(session, {}, { payload, naturalKey: '[["code","A 1 "]]' }),
      await putEntry(session, { state: 'done' }, { payload, naturalKey: '[["code","A 1 "]]' }),
      await putEntry(session, { state: 'abandoned' }, { payload, naturalKey: 'old' }),
      await putEntry(session, {}, { payload, naturalKey: null }),
    ];
    await session.atomically((tx) => deleteMeta(tx, 'layout'));
    await migrate(session, KINDS);
    const found = await readTexts(session, sql`select coalesce(natural_key, 'none') from outbox order by id`);
    expect(found).toEqual(['[["code","A 1"]]', '[["code","A 1"]]', 'old', 'none']);
    expect(found).toHaveLength(entries.length);
  });
});
