/**
 * What analysts wait for over a million purchase lines, beside a plain table of the same columns, and what landing them
 * costs: the tables as they are, with the records in a table apart, and plain. `npm run bench:scans`, `-- 100000` for fewer.
 */
import { sql } from 'drizzle-orm';
import type { SQL } from 'drizzle-orm';
import type { Kind } from '../src/catalog/kind.ts';
import { kindNamed } from '../src/catalog/kinds/catalog.ts';
import { openSession } from '../src/db/open-session.ts';
import type { Session, SqlValue } from '../src/db/session/session.ts';
import { recordDecoder } from '../src/diff/decode-record.ts';
import { compactJson } from '../src/lib/json/json.ts';
import { kindColumns, writtenColumns, writtenRow } from '../src/mirror/tables/kind-table.ts';
import { selectOf } from '../src/mirror/views/draw-views.ts';
import { kindViews } from '../src/mirror/views/views.ts';
import { createWorld } from '../src/sandbox/world.ts';
import { postgresServer, sqliteFiles } from './databases.ts';
import type { Databases } from './databases.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const TOGETHER = 3_200;
const ORIGINALS = 20_000;
const AT = '2026-01-01 00:00:00.000';
const LATER = '2026-02-01 00:00:00.000';
/** Columns that the records would take with them, and those that a plain table lacks. */
const APART = ['_raw', '_response', '_listed'];
const OURS = [...APART, '_first_seen_at', '_deleted_at'];
const RECORDS = ['kind', 'id', 'raw', 'response', 'listed', 'first_seen_at', 'changed_at', 'deleted_at'];
const LAYOUTS = ['plain', 'as it is', 'records apart'] as const;
type Layout = (typeof LAYOUTS)[number];

const named = (name: string): Kind => {
  const kind = kindNamed(name);
  if (kind === undefined) throw new RangeError(`No kind is named ${name}.`);
  return kind;
};
const KINDS = ['clients', 'products', 'purchase_products'].map(named);
const world = createWorld({ size: ORIGINALS, seed: 1, systemId: 8 });

const leftOut: Record<Layout, readonly string[]> = { plain: OURS, 'as it is': [], 'records apart': APART };

async function create(session: Session, kind: Kind, layout: Layout): Promise<void> {
  const { dialect } = session;
  const columns = kindColumns(kind, dialect).filter(({ name }) => !leftOut[layout].includes(name));
  const declared = columns.map(({ name, type, rule = '' }) => `"${name}" ${type} ${rule}`).join(', ');
  await session.atomically(async (tx) => {
    await tx.execute(`create table ${kind.name} (${declared})`);
    const [view] = kindViews(kind, dialect);
    if (layout !== 'plain' && view !== undefined)
      await tx.execute(`create view bi_${kind.name} as ${selectOf(view, new Map())}`);
  });
}

async function createRecords(session: Session): Promise<void> {
  const instant = session.dialect === 'sqlite' ? 'TIMESTAMP' : 'timestamptz(3)';
  await session.atomically((tx) =>
    tx.execute(`create table records (kind text not null, id bigint not null, raw text not null,
      response bigint not null, listed bigint, first_seen_at ${instant} not null, changed_at ${instant} not null,
      deleted_at ${instant}, primary key (kind, id))`),
  );
}

/** Lands rows batch after batch, as a first pull does. @returns Microseconds a row. */
async function fill(session: Session, kind: Kind, layout: Layout): Promise<number> {
  const { dialect } = session;
  const decode = recordDecoder(kind);
  const all = writtenColumns(kind, dialect);
  const idAt = all.indexOf('id');
  const changedAt = all.indexOf('_changed_at');
  const kept = all.flatMap((name, at) => (leftOut[layout].includes(name) ? [] : [at]));
  const columns = kept.map((at) => all[at] ?? '');
  const ids = world.ids(kind.name).slice(0, ORIGINALS);
  const originals = ids.map((id) => {
    const record = world.get(kind.name, id) ?? {};
    const raw = compactJson(record);
    const { values } = decode(record);
    return { raw, row: writtenRow(kind, dialect, values, [AT, AT, null, 1, 1, raw]) };
  });
  let ms = 0;
  for (let from = 0; from < ROWS; from += TOGETHER) {
    const rows: SqlValue[][] = [];
    const records: SqlValue[][] = [];
    for (let n = from; n < Math.min(ROWS, from + TOGETHER); n++) {
      const { raw, row } = originals[n % originals.length] ?? { raw: '', row: [] };
      const id = String(1 + ((n * 7_919) % 1_000_003)); // A list comes in the order of a code, not of the ids.
      const whole = row.with(idAt, id).with(changedAt, n % 100 === 0 ? LATER : AT);
      rows.push(kept.map((at) => whole[at] ?? null));
      if (layout === 'records apart') records.push([kind.name, id, raw, 1, 1, AT, AT, null]);
    }
    const started = performance.now();
    await session.atomically(async (tx) => {
      await tx.append({ table: kind.name, columns, rows });
      if (records.length > 0) await tx.append({ table: 'records', columns: RECORDS, rows: records });
    });
    ms += performance.now() - started;
  }
  return (ms * 1_000) / ROWS;
}

async function index(session: Session, layout: Layout): Promise<void> {
  const changed = layout === 'plain' ? '_changed_at' : '_changed_at, _deleted_at';
  for (const [n, columns] of ['purchase_id', 'product_id', changed].entries())
    await session.atomically((tx) => tx.execute(`create index lines_${n} on purchase_products (${columns})`));
  await session.atomically((tx) => tx.execute('analyze'));
}

function questions(layout: Layout, dialect: Session['dialect']): Record<string, SQL> {
  const lines = sql.raw(layout === 'plain' ? 'purchase_products' : 'bi_purchase_products');
  const products = sql.raw(layout === 'plain' ? 'products' : 'bi_products');
  const total = sql.raw(layout === 'plain' && dialect === 'sqlite' ? 'produit_total_real' : 'produit_total');
  return {
    sum: sql`select sum(${total}) from ${lines}`,
    'sum of _e4': sql`select sum(produit_total_e4) from ${lines}`,
    'top 20': sql`select purchase_id, sum(produit_total_e4) from ${lines} group by purchase_id order by 2 desc limit 20`,
    count: sql`select count(*) from ${lines}`,
    "a parent's lines": sql`select * from ${lines} where purchase_id = (select min(purchase_id) from ${lines})`,
    'changed since': sql`select count(*) from ${lines} where _changed_at >= ${LATER}`,
    join: sql`select p.code, sum(l.produit_total_e4) from ${lines} l join ${products} p on p.id = l.product_id
      group by p.code order by 2 desc limit 20`,
  };
}

const TIMES = 5;

/** The median of some times, in milliseconds. */
async function timesOf(session: Session, layout: Layout): Promise<Record<string, number>> {
  const times: Record<string, number> = {};
  for (const [name, query] of Object.entries(questions(layout, session.dialect))) {
    const took: number[] = [];
    for (let time = 0; time < TIMES; time++) {
      const started = performance.now();
      await session.query(query);
      took.push(performance.now() - started);
    }
    times[name] = Number((took.toSorted((a, b) => a - b)[TIMES >> 1] ?? 0).toFixed(2));
  }
  return times;
}

async function measure(databases: Databases): Promise<void> {
  const plain: Record<string, number> = {};
  for (const layout of LAYOUTS) {
    const session = await openSession(await databases.fresh());
    if (layout === 'records apart') await createRecords(session);
    const landing: Record<string, string> = {};
    for (const kind of KINDS) {
      await create(session, kind, layout);
      landing[kind.name] = `${(await fill(session, kind, layout)).toFixed(1)} µs a row`;
    }
    await index(session, layout);
    const times = await timesOf(session, layout);
    if (layout === 'plain') Object.assign(plain, times);
    const ratios = Object.entries(times).map(([name, ms]) => [name, (ms / (plain[name] ?? ms)).toFixed(2)]);
    console.log(session.dialect, layout, landing, times, Object.fromEntries(ratios));
    await session.close();
  }
}

for (const databases of [sqliteFiles(), await postgresServer()]) {
  await measure(databases);
  await databases.close();
}
