/** Commits batches of 200 rows for ever and shows it: `FILE BATCH`; stops half-way through that batch, if it is a number. */
import { writeSync } from 'node:fs';
import { setInterval } from 'node:timers';
import { sql } from 'drizzle-orm';
import { openSqliteSession } from '../../../src/db/sqlite/session.ts';

const [path = '', holdAt = ''] = process.argv.slice(2);
const session = openSqliteSession(path);
await session.atomically(async (tx) => {
  await tx.query(sql`pragma cache_size = 5`); // So small that open transactions spill into the WAL.
  await tx.execute(
    'create table if not exists things (id BIGINT NOT NULL PRIMARY KEY, batch BIGINT, name TEXT)',
  );
});
setInterval(() => undefined, 1000); // Holding still must not end the process.

for (let batch = 0; ; batch++) {
  const half = (from: number) => ({
    table: 'things',
    columns: ['id', 'batch', 'name'],
    rows: Array.from({ length: 100 }, (_, index) => [1000 * batch + from + index, batch, 'x'.repeat(500)]),
  });
  await session.atomically(async (tx) => {
    await tx.upsertRows(half(0));
    if (holdAt === String(batch)) {
      writeSync(1, 'half-way\n');
      await new Promise(() => undefined);
    }
    await tx.upsertRows(half(100));
  });
  writeSync(1, `committed ${batch}\n`);
}
