/**
 * How long the reports of docs/reporting take over a million sales, purchase lines, punches, bookings and changes, on both databases:
 * `npm run bench -- reports`. `reports 10000` takes so many instead, `reports 10000 SQLite` on one database.
 */
import { sql } from 'drizzle-orm';
import { SHOP_KINDS, liveThrough } from '../scripts/reports/business.ts';
import { REPORTS } from '../src/features/reports/read-reports.ts';
import { createRecordDecoder } from '../src/diff/decode-record.ts';
import { compactJson, type JsonObject } from '../src/lib/json/json.ts';
import { formatInstant } from '../src/lib/time/clock.ts';
import { readMirroredKind } from '../src/store/kinds/field-store.ts';
import { openSession } from '../src/db/open-session.ts';
import type { Session, SqlValue } from '../src/db/session/session.ts';
import { migrate } from '../src/views/migrate.ts';
import { writtenColumns, rowWriter } from '../src/store/tables/kind-table.ts';
import { startSandbox } from '../sandbox/sandbox.ts';
import { createWorld, type World } from '../sandbox/world.ts';
import { postgresServer, sqliteFiles } from './databases.ts';
import { CHANGE_COLUMNS } from './change-columns.ts';

const MOST = Number(process.argv[2] ?? 1_000_000);
const AT_ONCE = 10_000;
const TIMES = 5;
const DAYS = 200;
/** The kinds of the reports, with the rows that each gets. */
const ROWS = {
  clients: MOST / 10,
  providers: MOST / 100,
  products: MOST / 10,
  projects: MOST / 5,
  bookings: MOST,
  purchase_products: MOST,
  punches: MOST,
  sales: MOST,
  sales_products: MOST,
  sales_payments: MOST,
  purchases: MOST,
};
const COUNTED = { sold: ['invoice'], owed: ['invoice'], bought: ['received', 'invoiced'] };
const NOW = new Date('2025-09-28T12:00:00Z');

/** Puts a company's records of a kind into the mirror, again and again under other ids until there are enough. */
async function fillKind(session: Session, world: World, name: keyof typeof ROWS): Promise<void> {
  const known = SHOP_KINDS.find((one) => one.name === name);
  if (known === undefined) throw new RangeError(`No kind is named ${name}.`);
  const kind = await readMirroredKind(session, known);
  const decode = createRecordDecoder(kind);
  const columns = writtenColumns(kind, session.dialect);
  const at = formatInstant(NOW);
  const rowOf = (record: JsonObject): SqlValue[] => {
    const own = [at, at, null, 1, 1, compactJson(record)];
    return rowWriter(kind, session.dialect)(decode(record).values, own);
  };
  const first = columns.indexOf('id');
  const originals = world.ids(name).map((id) => rowOf(world.get(name, id) ?? {}));
  const ids = originals.map((row) => Number(row[first]));
  const span =
    1 + ids.reduce((most, id) => Math.max(most, id), 0) - ids.reduce((least, id) => Math.min(least, id));
  for (let from = 0; from < ROWS[name]; from += AT_ONCE) {
    const rows = Array.from({ length: Math.min(AT_ONCE, ROWS[name] - from) }, (_, n) => {
      const place = (from + n) % ids.length;
      const copy = Math.floor((from + n) / ids.length);
      return originals[place]?.with(first, String((ids[place] ?? 0) + copy * span)) ?? [];
    });
    await session.atomically((tx) => tx.insertRows({ table: name, columns, rows }));
  }
}

/** A million events of 300 bytes before and after, evenly over some days. */
async function fillChanges(session: Session): Promise<void> {
  const record = JSON.stringify({ id: 1, code: 'C-1', name: 'Ada', note: 'x'.repeat(260) });
  const changes = ['updated', 'updated', 'updated', 'created', 'deleted'];
  for (let from = 0; from < MOST; from += AT_ONCE) {
    const rows = Array.from({ length: Math.min(AT_ONCE, MOST - from) }, (_, n) => {
      const when = NOW.getTime() + Math.floor(((from + n) * DAYS * 86_400_000) / MOST);
      const change = changes[n % changes.length] ?? '';
      const facts = ['clients', String(n), change, formatInstant(new Date(when))];
      return [...facts, record, record, '{"name":["Ada","Bea"]}', 'service', 1];
    });
    await session.atomically((tx) => tx.insertRows({ table: 'changes', columns: CHANGE_COLUMNS, rows }));
  }
}

async function fill(session: Session): Promise<void> {
  await migrate(session, SHOP_KINDS, { readerRole: null, reports: COUNTED });
  await using sandbox = await startSandbox({ size: 40 });
  await liveThrough(sandbox, [session], 1, SHOP_KINDS); // The pulls make the columns and the indexes.
  const world = createWorld({ size: MOST / 10, seed: 1, systemId: 8 });
  for (const name of Object.keys(ROWS) as (keyof typeof ROWS)[]) {
    const started = performance.now();
    await fillKind(session, world, name);
    console.error(`${name}: ${Math.round((performance.now() - started) / 1000)} s`);
  }
  await fillChanges(session);
  await session.atomically((tx) => tx.query(sql`analyze`));
}

async function timeOf(
  session: Session,
  text: string,
): Promise<{ rows: number; first: number; median: number }> {
  const times: number[] = [];
  let rows = 0;
  for (let n = 0; n < TIMES; n++) {
    const from = performance.now();
    rows = (await session.query(sql.raw(text))).length;
    times.push(performance.now() - from);
  }
  return { rows, first: times[0] ?? 0, median: times.toSorted((a, b) => a - b)[Math.floor(TIMES / 2)] ?? 0 };
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

const servers = {
  SQLite: () => Promise.resolve(sqliteFiles()),
  PostgreSQL: postgresServer,
};
for (const [label, open] of Object.entries(servers)) {
  if ((process.argv[3] ?? label) !== label) continue;
  const databases = await open();
  const session = await openSession(await databases.fresh());
  try {
    await fill(session);
    for (const report of REPORTS) {
      const { name, sql: text } = report;
      const { rows, first, median } = await timeOf(session, text);
      console.log(`| ${label} | ${name} | ${rows} | ${seconds(first)} s | ${seconds(median)} s |`);
    }
  } finally {
    await session.close();
    await databases.close();
  }
}
