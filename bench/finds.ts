/**
 * What a person waits for who looks for a client among a million: `npm run bench -- finds`, or `finds 100000` for fewer. Prints the
 * median and the longest of ten times for each text, and the time of the index.
 */
import { sql } from 'drizzle-orm';
import { clients } from '../src/catalog/kinds/clients.ts';
import { openSession } from '../src/db/open-session.ts';
import type { Session } from '../src/db/session/session.ts';
import { findRecords } from '../src/store/records/find-records.ts';
import { normalized } from '../src/store/tables/search-text.ts';
import { createReportIndexes } from '../src/store/schema/change-kind-tables.ts';
import { migrate } from '../src/views/migrate.ts';
import { postgresServer, sqliteFiles } from './databases.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const TOGETHER = 5_000;
const TIMES = 10;
const AT = '2026-01-01 00:00:00.000';
const FIRST = ['Noël', 'Zoé', 'Éric', 'Jean', 'Marie', 'Luc', 'Anaïs', 'Guy'];
const LAST = ['Tremblay', 'Côté', 'Roy', 'Lévesque', 'Gagné', 'Fortin', 'Bouchard'];
const TEXTS = [
  'tremblay',
  'zoe tremblay',
  'cote 4242',
  'C-777777',
  '514 555-0199',
  'u99999@',
  'nobody at all',
];

const columns =
  'id code name phone email _first_seen_at _changed_at _deleted_at _response _listed _search _raw'.split(' ');

function row(id: number): (string | number | null)[] {
  const name = `${FIRST[id % 8] ?? ''} ${LAST[id % 7] ?? ''} ${(id * 7) % 99_991}`;
  const phone = `(514) ${String(id % 997).padStart(3, '0')}-${String(id % 9_973).padStart(4, '0')}`;
  const record = { id, code: `C-${id}`, name, phone, email: `u${id}@example.ca`, address: 'x'.repeat(300) };
  return [
    id,
    record.code,
    name,
    phone,
    record.email,
    AT,
    AT,
    null,
    1,
    1,
    normalized([record.code, name, phone, record.email].join('|')),
    JSON.stringify(record),
  ];
}

async function fill(session: Session): Promise<void> {
  for (let from = 1; from <= ROWS; from += TOGETHER) {
    const rows = Array.from({ length: Math.min(TOGETHER, ROWS - from + 1) }, (_, n) => row(from + n));
    await session.atomically((tx) => tx.insertRows({ table: 'clients', columns, rows }));
  }
  await session.atomically(async (tx) => {
    await tx.query(sql`
      insert into kind_state (kind, tick, state, complete_sweeps, epoch, baseline_at)
      values ('clients', 1, 'complete', 1, 1, ${AT})`);
  });
}

for (const databases of [sqliteFiles(), await postgresServer()]) {
  const session = await openSession(await databases.fresh());
  await migrate(session, [clients]);
  await fill(session);
  const started = performance.now();
  await createReportIndexes(session, [clients]);
  console.log(session.dialect, 'indexes', `${Math.round(performance.now() - started)} ms`);
  await session.atomically((tx) => tx.execute('analyze'));
  for (const text of TEXTS) {
    const times: number[] = [];
    let found = 0;
    for (let time = 0; time < TIMES; time++) {
      const begun = performance.now();
      found = (await findRecords(session, clients, { text, limit: 21 })).length;
      times.push(performance.now() - begun);
    }
    const median = times.toSorted((a, b) => a - b)[TIMES >> 1] ?? 0;
    const longest = Math.max(...times);
    console.log(session.dialect, text, found, `${median.toFixed(1)} ms, at most ${longest.toFixed(1)} ms`);
  }
  await session.close();
  await databases.close();
}
