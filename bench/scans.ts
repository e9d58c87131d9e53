/**
 * What analysts wait for over a million purchase lines, beside a plain table of the same columns, and what landing them
 * costs: the tables as they are, with the records in a table apart, and plain; and of a whole mirror the histories, nested
 * arrays and states of the past. `npm run bench -- scans`, `scans 100000` for fewer, `scans 1000000 'as it is'` for one layout.
 */
import { join } from 'node:path';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { sql, type SQL } from 'drizzle-orm';
import type { Kind } from '../src/catalog/kind.ts';
import { documentedKind } from '../src/catalog/kinds/catalog.ts';
import { openSession } from '../src/db/open-session.ts';
import type { Session, SqlValue } from '../src/db/session/session.ts';
import { createRecordDecoder } from '../src/diff/decode-record.ts';
import { compactJson, parseObject } from '../src/lib/json/json.ts';
import { systemClock } from '../src/lib/time/clock.ts';
import { createElementDecoder } from '../src/store/records/nested-rows.ts';
import { migrate } from '../src/views/migrate.ts';
import {
  kindColumns,
  nestedColumns,
  nestedTables,
  writtenColumns,
  rowWriter,
} from '../src/store/tables/kind-table.ts';
import { selectText } from '../src/views/create-views.ts';
import { kindViews } from '../src/views/views.ts';
import { openExport } from '../src/features/export/export-source.ts';
import { takeSnapshot } from '../src/features/export/snapshot.ts';
import { createWorld } from '../sandbox/world.ts';
import { CHANGE_COLUMNS } from './change-columns.ts';
import { postgresServer, sqliteFiles, type Databases } from './databases.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const TOGETHER = 3_200;
const ORIGINALS = 20_000;
const AT = '2026-01-01 00:00:00.000';
const LATER = '2026-02-01 00:00:00.000';
/** Columns that the records would take with them, and the ones that a plain table lacks. */
const APART = ['_raw', '_response', '_listed'];
const OURS = [...APART, '_first_seen_at', '_deleted_at'];
const RECORDS = ['kind', 'id', 'raw', 'response', 'listed', 'first_seen_at', 'changed_at', 'deleted_at'];
const LAYOUTS = ['plain', 'as it is', 'records apart'] as const;
type Layout = (typeof LAYOUTS)[number];
/** The times of a plain table in SQLite, which a snapshot is compared with. */
const plainFile: Record<string, number> = {};

const named = (name: string): Kind => {
  const kind = documentedKind(name);
  if (kind === undefined) throw new RangeError(`No kind is named ${name}.`);
  return kind;
};
const KINDS = ['clients', 'products', 'purchase_products'].map(named);
const world = createWorld({ size: ORIGINALS, seed: 1, systemId: 8 });

const leftOut: Record<Layout, readonly string[]> = { plain: OURS, 'as it is': [], 'records apart': APART };

async function create(session: Session, kind: Kind, layout: Layout): Promise<void> {
  const { dialect } = session;
  if (layout === 'as it is') {
    await migrate(session, KINDS);
    return;
  }
  const columns = kindColumns(kind, dialect).filter(({ name }) => !leftOut[layout].includes(name));
  const declared = columns.map(({ name, type, rule = '' }) => `"${name}" ${type} ${rule}`).join(', ');
  await session.atomically(async (tx) => {
    await tx.execute(`create table ${kind.name} (${declared})`);
    const [view] = kindViews(kind, dialect);
    if (layout !== 'plain' && view !== undefined)
      await tx.execute(`create view bi_${kind.name} as ${selectText(view, new Map())}`);
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
  const decode = createRecordDecoder(kind);
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
    return { raw, row: rowWriter(kind, dialect)(values, [AT, AT, null, 1, 1, raw]) };
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
      await tx.insertRows({ table: kind.name, columns, rows });
      if (records.length > 0) await tx.insertRows({ table: 'records', columns: RECORDS, rows: records });
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

function questions(layout: Layout | 'snapshot', dialect: Session['dialect']): Record<string, SQL> {
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

/** A contact for each of the clients, and an event for every tenth line. */
async function fillPast(session: Session): Promise<void> {
  const { dialect } = session;
  const [table] = nestedTables(named('clients'));
  if (table === undefined) throw new RangeError('Clients have no nested array.');
  const { read } = createElementDecoder(table, dialect, []);
  const columns = nestedColumns(table, dialect).map(({ name }) => name);
  const contact = parseObject('{"contacts":[{"id":7,"nom":"Ada","email":"ada@example.com"}]}');
  const raw = compactJson(world.get('purchase_products', world.ids('purchase_products')[0] ?? 0) ?? {});
  for (let from = 0; from < ROWS; from += TOGETHER) {
    const ids = Array.from({ length: Math.min(TOGETHER, ROWS - from) }, (_, n) => String(from + n + 1));
    const elements = ids.flatMap((id) => read({ id, record: contact }));
    const changed = ids.filter((id) => id.endsWith('1'));
    const rows = changed.map((id) => {
      const facts = ['purchase_products', id, 'updated', LATER, raw, raw];
      return [...facts, '{"product_price":[1,2]}', 'service', null];
    });
    await session.atomically(async (tx) => {
      await tx.insertRows({ table: table.name, columns, rows: elements });
      await tx.insertRows({ table: 'changes', columns: CHANGE_COLUMNS, rows });
    });
  }
}

/** Between the first reading and the changes. */
const THEN = '2026-01-15 00:00:00.000';

/** The queries whose times docs/analysts.md has, beside the questions to the view. */
function furtherQuestions(dialect: Session['dialect']): Record<string, SQL> {
  const total = sql.raw(
    dialect === 'sqlite'
      ? `json_extract(record, '$.produit_total')`
      : `cast(record::json ->> 'produit_total' as numeric)`,
  );
  const history = sql`bi_purchase_products_history`;
  const then = sql`(select id, record from (
    select k.id, case when c.seq is null then case when k._deleted_at is null then k._raw end else c.before end as record
    from purchase_products k left join changes c on c.seq = (
      select min(seq) from changes
      where kind = 'purchase_products' and record_id = cast(k.id as text) and observed_at > ${THEN})
    where k._first_seen_at <= ${THEN}) then_there where record is not null)`;
  const questionsTo = (rows: SQL, name: string): Record<string, SQL> => ({
    [`${name}: sum`]: sql`select sum(${total}) from ${rows} r`,
    [`${name}: count`]: sql`select count(*) from ${rows} r`,
    [`${name}: one id`]: sql`select * from ${rows} r where id = 500001`,
    [`${name}: join`]: sql`select count(*) from ${rows} r join bi_purchase_products l on l.id = r.id`,
  });
  return {
    'view: one id': sql`select * from bi_purchase_products where id = 500001`,
    'nested: sum': sql`select sum(id) from bi_clients_contacts`,
    'nested: count': sql`select count(*) from bi_clients_contacts`,
    'nested: one id': sql`select * from bi_clients_contacts where parent_id = 500001`,
    'nested: join': sql`select count(*) from bi_clients_contacts n join bi_clients c on c.id = n.parent_id`,
    ...questionsTo(history, 'history'),
    ...questionsTo(then, 'as of'),
  };
}

/** The typed state of the past of one record. */
async function timesOfPast(session: Session): Promise<Record<string, number>> {
  const took: Record<string, number> = {};
  const time = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    const result = await work();
    took[name] = Number((performance.now() - started).toFixed(2));
    return result;
  };
  const rowsOf = async (what: string): Promise<number> => {
    const wish = { what, asOf: `${THEN}Z`, ids: ['500001'], now: new Date(), timezone: 'UTC' };
    let rows = 0;
    for await (const batch of (await openExport(session, KINDS, wish)).source.batches) rows += batch.length;
    return rows;
  };
  for (const what of ['purchase_products', 'bi_clients_contacts']) {
    await rowsOf(what);
    await time(`export --as-of --ids of ${what}`, () => rowsOf(what));
  }
  return took;
}

/** A snapshot for reporting tools: how long it takes, and questions to it. */
async function timesOfSnapshot(session: Session, url: string, plain: Record<string, number>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bms-sync-bench-'));
  const path = join(folder, 'bi.db');
  const { signal } = new AbortController();
  const how = { waitMs: 0, clock: systemClock, signal, onWait: () => undefined };
  const started = performance.now();
  const { bytes } = await takeSnapshot({ url, kinds: KINDS, path, ...how });
  console.log(session.dialect, `snapshot: ${Math.round(performance.now() - started)} ms`, { bytes });
  const file = await openSession(`file:${path}`);
  const times = await timesOf(file, questions('snapshot', 'sqlite'));
  const ratios = Object.entries(times).map(([name, ms]) => [name, (ms / (plain[name] ?? ms)).toFixed(2)]);
  console.log(session.dialect, 'snapshot', times, Object.fromEntries(ratios));
  await file.close();
  rmSync(folder, { recursive: true });
}

const TIMES = 5;

/** The median of some times, in milliseconds. */
async function timesOf(session: Session, asked: Record<string, SQL>): Promise<Record<string, number>> {
  const times: Record<string, number> = {};
  for (const [name, query] of Object.entries(asked)) {
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
  for (const layout of LAYOUTS.filter((one) => one === (process.argv[3] ?? one))) {
    const url = await databases.fresh();
    const session = await openSession(url);
    if (layout === 'records apart') await createRecords(session);
    const landing: Record<string, string> = {};
    for (const kind of KINDS) {
      await create(session, kind, layout);
      landing[kind.name] = `${(await fill(session, kind, layout)).toFixed(1)} µs a row`;
    }
    if (layout === 'as it is') await fillPast(session);
    await index(session, layout);
    const times = await timesOf(session, questions(layout, session.dialect));
    if (layout === 'plain') Object.assign(plain, times);
    if (layout === 'plain' && session.dialect === 'sqlite') Object.assign(plainFile, times);
    const ratios = Object.entries(times).map(([name, ms]) => [name, (ms / (plain[name] ?? ms)).toFixed(2)]);
    console.log(session.dialect, layout, landing, times, Object.fromEntries(ratios));
    if (layout === 'as it is') {
      await timesOfSnapshot(session, url, plainFile);
      console.log(await timesOf(session, furtherQuestions(session.dialect)));
      console.log(await timesOfPast(session));
    }
    await session.close();
  }
}

for (const databases of [sqliteFiles(), await postgresServer()]) {
  await measure(databases);
  await databases.close();
}
