import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { systemClock } from '../../../src/lib/time/clock.ts';
import { takeSnapshot } from '../../../src/report/export/snapshot.ts';
import { DATABASES, mirrorIn } from '../../feed/support.ts';
import { putRecords } from '../../store/temp-mirror.ts';
import { tempFolder } from '../../support/temp-folder.ts';

test.each(DATABASES)(
  'the tables of a snapshot have keys and references, which refuse no row, from %s',
  async (database) => {
    const { session, url } = await mirrorIn(database);
    await session.atomically((tx) =>
      putRecords(tx, 'projects', [{ id: '1', client_id: '999', _deleted_at: null }]),
    );
    const path = join(tempFolder(), 'bi.db');
    const { signal } = new AbortController();
    const wish = { url, kinds: KINDS, path, waitMs: null, asOf: null, clock: systemClock, signal };
    await takeSnapshot({ ...wish, onWait: () => undefined });
    using file = { db: new Sqlite(path, { readonly: true }), [Symbol.dispose]: () => file.db.close() };
    const keys = file.db.prepare(`select name from pragma_table_info('bi_clients') where pk = 1`).all();
    expect(keys).toEqual([{ name: 'id' }]);
    const references = file.db
      .prepare(`select "from", "table", "to" from pragma_foreign_key_list('bi_projects')`)
      .all();
    expect(references).toEqual([{ from: 'client_id', table: 'bi_clients', to: 'id' }]);
    expect(file.db.prepare('select client_id from bi_projects').all()).toEqual([{ client_id: 999 }]);
  },
);
