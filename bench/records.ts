/**
 * What it would cost and bring to keep the records apart from the tables that analysts scan: a million purchase lines and
 * clients in both layouts, on both databases. `node --import tsx bench/records.ts [rows]`
 */
import { sql } from 'drizzle-orm';
import { LISTED_KINDS } from '../src/catalog/kinds/catalog.ts';
import type { Kind } from '../src/catalog/kind.ts';
import { openSession } from '../src/db/open-session.ts';
import type { Session, SqlValue } from '../src/db/session/session.ts';
import { recordDecoder } from '../src/diff/decode-record.ts';
import { compactJson } from '../src/lib/json/json.ts';
import { kindColumns, writtenColumns, writtenRow } from '../src/mirror/tables/kind-table.ts';
import { createWorld } from '../src/sandbox/world.ts';
import { postgresServer, sqliteFiles } from './databases.ts';
import type { Databases } from './databases.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const TOGETHER = 3_200;
const ORIGINALS = 20_000;
const AT = '2026-01-01 00:00:00.000';
const APART = ['_raw', '_response', '_listed'];
const RECORD_COLUMNS = [
  'kind',
  'id',
  'raw',
  'response',
  'listed',
  'first_seen_at',
  'changed_at',
  'deleted_at',
];

type Layout = 'one table' | 'records apart';

const world = createWorld({ size: ORIGINALS, seed: 1, systemId: 8 });

async function create(session: Session, kind: Kind, layout: Layout): Promise<void> {
  const columns = kindColumns(kind, session.dialect).filter(
    ({ name }) => layout === 'one table' || !APART.includes(name),
  );
  const declared = columns.map(({ name, type, rule }) => `"${name}" ${type} ${rule ?? ''}`).join(', ');
  await session.atomically((tx) => tx.execute(`create table ${kind.name} (${declared})`));
}

async function createRecords(session: Session): Promise<void> {
  const instant = session.dialect === 'sqlite' ? 'TIMESTAMP' : 'timestamptz(3)';
  await session.atomically((tx) =>
    tx.execute(`create table records (kind text not null, id bigint not null, raw text not null, response bigint not null,
      listed bigint, first_seen_at ${instant} not null, changed_at ${instant} not null, deleted_at ${instant},
      primary key (kind, id))`),
  );
}

/** Seconds that the rows took to land, batch after batch, as a first pull writes them. */
async function fill(session: Session, kind: Kind, layout: Layout): Promise<number> {
  const decode = recordDecoder(kind);
  const columns = writtenColumns(kind, session.dialect);
  const idAt = columns.indexOf('id');
  const kept = columns.flatMap((name, at) => (layout === 'one table' || !APART.includes(name) ? [at] : []));
  const originals = world
    .ids(kind.name)
    .slice(0, ORIGINALS)
    .map((id) => {
      const record = world.get(kind.name, id) ?? {};
      const raw = compactJson(record);
      return {
        raw,
        row: writtenRow(kind, session.dialect, {
          values: decode(record).values,
          own: [AT, AT, null, 1, 1, raw],
        }),
      };
    });
  let seconds = 0;
  for (let from = 0; from < ROWS; from += TOGETHER) {
    const rows: SqlValue[][] = [];
    const records: SqlValue[][] = [];
    for (let n = from; n < Math.min(ROWS, from + TOGETHER); n++) {
      const original = originals[n % originals.length];
      if (original === undefined) throw new RangeError('no originals');
      const id = String(1 + ((n * 7_919) % 1_000_003)); // A list comes in the order of a code, not of the ids.
      const row = original.row.with(idAt, id);
      rows.push(kept.length === columns.length ? row : kept.map((at) => row[at] ?? null));
      if (layout === 'records apart') records.push([kind.name, id, original.raw, 1, 1, AT, AT, null]);
    }
    const started = performance.now();
    await session.atomically(async (tx) => {
      await tx.append({ table: kind.name, columns: kept.map((at) => columns[at] ?? ''), rows });
      if (records.length > 0) await tx.append({ table: 'records', columns: RECORD_COLUMNS, rows: records });
    });
    seconds += (performance.now() - started) / 1000;
  }
  return seconds;
}

const linesOf = (dialect: Session['dialect']) => {
  const real = sql.raw(dialect === 'sqlite' ? '_real' : '');
  return {
    sum: sql`select sum(product_quantity${real} * product_price${real}) from purchase_products where _deleted_at is null`,
    'top groups': sql`select purchase_id, count(*) from purchase_products where _deleted_at is null
      group by purchase_id order by 2 desc limit 20`,
    count: sql`select count(*) from purchase_products where _deleted_at is null`,
    changed: sql`select count(*) from purchase_products where _changed_at > '2026-02-01 00:00:00.000'`,
  };
};

async function scan(session: Session): Promise<Record<string, number>> {
  const times: Record<string, number> = {};
  for (const [name, query] of Object.entries(linesOf(session.dialect))) {
    const took: number[] = [];
    for (let time = 0; time < 5; time++) {
      const started = performance.now();
      await session.query(query);
      took.push(performance.now() - started);
    }
    times[name] = Math.round(took.toSorted((a, b) => a - b)[1] ?? 0);
  }
  return times;
}

async function measure(databases: Databases): Promise<void> {
  const kinds = LISTED_KINDS.filter(({ name }) => ['purchase_products', 'clients'].includes(name));
  for (const layout of ['one table', 'records apart'] as const) {
    const session = await openSession(await databases.fresh());
    if (layout === 'records apart') await createRecords(session);
    for (const kind of kinds) await create(session, kind, layout);
    const figures: Record<string, string> = {};
    for (const kind of kinds)
      figures[kind.name] = `${(((await fill(session, kind, layout)) * 1e6) / ROWS).toFixed(1)} µs a row`;
    await session.atomically((tx) => tx.query(sql`analyze`));
    console.log(session.dialect, layout, figures, await scan(session));
    await session.close();
  }
}

for (const databases of [sqliteFiles(), await postgresServer()]) {
  for (let round = 0; round < 2; round++) await measure(databases);
  await databases.close();
}
