/** Asks the SQLite mirror at PATH for lists of many lengths, and prints by how many MB this process grew meanwhile. */
import { sql } from 'drizzle-orm';
import { openSession } from '../../../src/db/open-session.ts';
import { sqlList } from '../../../src/db/session/sql-list.ts';

const [path = ''] = process.argv.slice(2);
await using session = await openSession(`file:${path}`);

/** A few queries that differ by a number, each with lists of up to 500 values. */
async function ask(queries: readonly number[]): Promise<void> {
  for (const query of queries)
    for (let length = 1; length <= 500; length += 2) {
      const list = sqlList(Array.from({ length }, (_, index) => index));
      const statement = sql`select ${sql.raw(String(query))} as query where -1 in (${list})`;
      await session.query(statement);
      await session.atomically((tx) => tx.query(statement));
    }
}

await ask([1]); // What a process needs anyway.
const before = process.memoryUsage.rss();
await ask([3, 4, 5]);
console.log(Math.round((process.memoryUsage.rss() - before) / 2 ** 20));
