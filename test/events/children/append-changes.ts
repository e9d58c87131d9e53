/** Appends events to the mirror at URL in TRANSACTIONS transactions, every fifth undone; prints the seqs that it committed. */
import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { appendChanges } from '../../../src/store/records/change-store.ts';
import { openSession } from '../../../src/db/open-session.ts';

const [url = '', transactions = '0'] = process.argv.slice(2);
const UNDONE = new Error('undone');
const session = await openSession(url);
process.stdout.write('ready\n');
for (let n = 0; n < Number(transactions); n++) {
  const recordId = `${process.pid}${String(n).padStart(6, '0')}`;
  const events = Array.from({ length: 1 + (n % 7) }, () => ({
    recordId,
    change: 'updated' as const,
    observedFrom: null,
    before: '{}',
    after: '{}',
    fields: '{}',
  }));
  const kind = n % 3 === 0 ? 'products' : 'clients';
  try {
    const seqs = await session.atomically(async (tx) => {
      await appendChanges(tx, { kind, events, origin: 'service', runId: null, now: new Date() });
      for (let turns = n % 4; turns > 0; turns--) await turn(); // Between the numbers and the commit others may come.
      if (n % 5 === 4) throw UNDONE;
      return tx.query(sql`select seq from changes where record_id = ${recordId}`);
    });
    for (const { seq } of seqs) process.stdout.write(`${String(seq)}\n`);
  } catch (error) {
    if (error !== UNDONE) throw error;
  }
}
await session.close();
