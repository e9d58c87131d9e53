/** Writes rows into FILE until its disk is full, then says as JSON what is left. */
import { sql } from 'drizzle-orm';
import { MirrorError } from '../../../src/mirror/session/errors.ts';
import { openSqliteSession } from '../../../src/mirror/sqlite/session.ts';

const [path = ''] = process.argv.slice(2);
await using session = openSqliteSession(path);
await session.atomically((tx) =>
  tx.execute('create table things (id BIGINT NOT NULL PRIMARY KEY, batch BIGINT, name TEXT)'),
);
const rowsOf = (batch: number, length: number) => ({
  table: 'things',
  columns: ['id', 'batch', 'name'],
  rows: Array.from({ length }, (_, index) => [100_000 * batch + index, batch, 'x'.repeat(1000)]),
});
const count = async () => {
  const [row] = await session.query(
    sql`select count(*) as rows, count(distinct batch) as batches from things`,
  );
  return row;
};

let acknowledged = 0;
let fault: unknown = null;
while (fault === null && acknowledged < 1000) {
  try {
    await session.atomically((tx) => tx.putRows(rowsOf(acknowledged, 50)));
    acknowledged++;
  } catch (error) {
    fault = error;
  }
}
const whenFull = await count();
await session.atomically((tx) => tx.query(sql`delete from things where batch >= 2`)).catch(() => undefined);
const integrity = await session.query(sql`pragma integrity_check`);
console.log(
  JSON.stringify({
    code: fault instanceof MirrorError ? fault.code : String(fault),
    message: fault instanceof Error ? fault.message : '',
    acknowledged,
    whenFull,
    integrity,
  }),
);
