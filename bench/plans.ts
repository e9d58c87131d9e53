/**
 * What everybody else waits for while a plan is made, applied, looked at and undone: `npm run bench -- plans`, or `plans 1000` for fewer
 * rows. Prints the time of each step, the longest delay of the event loop, its longest turn in processor time (which other programs
 * do not prolong), and the longest wait of another writer.
 */
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { clients } from '../src/catalog/kinds/clients.ts';
import { openSession } from '../src/db/open-session.ts';
import type { Session } from '../src/db/session/session.ts';
import { createRecordDecoder } from '../src/diff/decode-record.ts';
import { inChunks } from '../src/db/session/sql-text.ts';
import { compactJson, parseObject } from '../src/lib/json/json.ts';
import { applyPlan } from '../src/features/plans/work/apply-plan.ts';
import { makePlan } from '../src/features/plans/work/make-plan.ts';
import { showPlan } from '../src/features/plans/work/plan-document.ts';
import { readSheet } from '../src/features/plans/sheet/read-sheet.ts';
import { undoPlan } from '../src/features/plans/work/undo-plan.ts';
import { versionOf } from '../src/store/records/record-version.ts';
import { createReportIndexes } from '../src/store/schema/change-kind-tables.ts';
import { writtenColumns, rowWriter } from '../src/store/tables/kind-table.ts';
import { migrate } from '../src/views/migrate.ts';
import { createWorld } from '../sandbox/world.ts';
import { CHANGE_COLUMNS } from './change-columns.ts';
import { postgresServer, sqliteFiles } from './databases.ts';

const ROWS = Number(process.argv[2] ?? 15_000);
const AT = '2026-01-01 00:00:00.000';
const TICK_MS = 5;

const kinds = [clients];

/** Fills the mirror; returns an export in which each row has another city. */
async function fill(session: Session): Promise<Uint8Array> {
  const world = createWorld({ size: ROWS, seed: 1, systemId: 8 });
  const decode = createRecordDecoder(clients);
  const columns = writtenColumns(clients, session.dialect);
  const lines = ['id,city,_version'];
  const rows = world.ids('clients').map((id) => {
    const record = world.get('clients', id) ?? {};
    const raw = compactJson(record);
    lines.push(`${id},Rimouski ${id},${versionOf(raw)}`);
    return rowWriter(clients, session.dialect)(decode(record).values, [AT, AT, null, 1, 1, raw]);
  });
  for (let from = 0; from < rows.length; from += 1_000)
    await session.atomically((tx) =>
      tx.insertRows({ table: 'clients', columns, rows: rows.slice(from, from + 1_000) }),
    );
  await createReportIndexes(session, kinds);
  return new TextEncoder().encode(lines.join('\n'));
}

/** Lets each entry be done, with the event and the row of its change. */
async function send(session: Session): Promise<void> {
  const rows = await session.query(sql`
    select o.id, o.record_id, o.created_at, k._raw from outbox o join clients k on cast(k.id as text) = o.record_id`);
  for (const some of inChunks(rows))
    await session.atomically(async (tx) => {
      for (const { id = '', record_id: of = '', created_at: at = '', _raw } of some) {
        const before = String(_raw);
        const city = `Rimouski ${of ?? ''}`;
        const after = compactJson({ ...parseObject(before), city });
        const fields = compactJson({ city: ['before', city] });
        const event = ['clients', of, 'updated', at, before, after, fields, `outbox:${id ?? ''}`, null];
        await tx.insertRows({ table: 'changes', columns: CHANGE_COLUMNS, rows: [event] });
        await tx.write(sql`update clients set _raw = ${after} where id = ${of}`);
      }
    });
  await session.atomically((tx) => tx.write(sql`update outbox set state = 'done', verdict = 'confirmed'`));
}

/** Measures a step beside another writer and a timer. */
async function measure<T>(
  session: Session,
  other: Session,
  name: string,
  step: () => Promise<T>,
): Promise<T> {
  const ends = new AbortController();
  const longest = { loopMs: 0, sliceMs: 0, writeMs: 0 };
  const tick = async (): Promise<void> => {
    while (!ends.signal.aborted) {
      const started = performance.now();
      await delay(TICK_MS);
      longest.loopMs = Math.max(longest.loopMs, performance.now() - started - TICK_MS);
    }
  };
  const turn = async (): Promise<void> => {
    while (!ends.signal.aborted) {
      const used = process.cpuUsage();
      await setImmediate();
      const { user, system } = process.cpuUsage(used);
      longest.sliceMs = Math.max(longest.sliceMs, (user + system) / 1_000);
    }
  };
  const write = async (): Promise<void> => {
    while (!ends.signal.aborted) {
      const started = performance.now();
      await other.atomically((tx) => tx.query(sql`update mirror_meta set value = value where key = 'none'`));
      longest.writeMs = Math.max(longest.writeMs, performance.now() - started);
      await delay(TICK_MS);
    }
  };
  const beside = Promise.all([tick(), turn(), write()]);
  const started = performance.now();
  const result = await step();
  const ms = performance.now() - started;
  ends.abort();
  await beside;
  const { loopMs, sliceMs, writeMs } = longest;
  console.log(session.dialect, name, { ms, loopMs, sliceMs, writeMs });
  return result;
}

for (const databases of [sqliteFiles(), await postgresServer()]) {
  const url = await databases.fresh();
  const session = await openSession(url);
  await migrate(session, kinds);
  const other = await openSession(url);
  const sheet = await readSheet('clients.csv', await fill(session));
  const made = { kinds, sheet, origin: 'clients.csv', createdBy: 'ada', now: new Date(), kind: 'clients' };
  const id = (await measure(session, other, 'plan', () => makePlan(session, made))) ?? 0;
  const decide = (plan: number) => ({ kinds, id: plan, by: 'ada', now: new Date(), approvals: 0 });
  await measure(session, other, 'look', () => showPlan(session, kinds, id));
  await measure(session, other, 'apply', () => applyPlan(session, decide(id)));
  await send(session);
  const undo = await measure(session, other, 'undo', () => undoPlan(session, decide(id)));
  await measure(session, other, 'apply the undo', () => applyPlan(session, decide(undo)));
  await other.close();
  await session.close();
  await databases.close();
}
