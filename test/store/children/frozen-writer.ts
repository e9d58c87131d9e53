/**
 * Adds 1 to the total of the PostgreSQL mirror at URL, and says when it is `inside` its transaction and when that has
 * `landed`. As `URL idle` it pauses inside the first time, as `URL reading` it is then about to read an answer of 64 MB.
 */
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { openPostgresSession } from '../../../src/db/postgres/session.ts';

const [url = '', how = 'idle'] = process.argv.slice(2);
const session = await openPostgresSession(url);
let runs = 0;
await session.atomically(async (tx) => {
  runs++;
  await tx.query(sql`update totals set amount = amount + 1`);
  if (runs > 1) return;
  const read =
    how === 'reading' ? tx.query(sql`select repeat('x', 1000) from generate_series(1, 64000)`) : null;
  const goesOn = once(process, 'SIGCONT'); // The parent stops this process meanwhile.
  writeSync(1, 'inside\n');
  await (read ?? goesOn);
});
await session.close();
writeSync(1, `landed after ${runs}\n`);
