import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { readTexts } from '../../src/db/rows/rows.ts';
import { deleteMeta } from '../../src/store/kinds/meta.ts';
import { migrate } from '../../src/views/migrate.ts';
import { DATABASES } from '../store/databases.ts';
import { putEntry } from '../store/outbox/entries.ts';

describe.each(DATABASES)('an upgrade of a mirror in %s', (_name, open) => {
  test('computes the natural keys of open and done creates anew', async () => {
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
