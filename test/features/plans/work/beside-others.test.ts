import { TABLE_OWNERS } from '../../../../src/feature-hooks.ts';
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KINDS } from '../../../../src/catalog/kinds/catalog.ts';
import type { Session } from '../../../../src/db/session/session.ts';
import { createRecordDecoder } from '../../../../src/diff/decode-record.ts';
import { documentOf } from '../../../../src/lib/json/document.ts';
import { compactJson } from '../../../../src/lib/json/json.ts';
import { applyPlan } from '../../../../src/features/plans/work/apply-plan.ts';
import { makePlan } from '../../../../src/features/plans/work/make-plan.ts';
import {
  showPlan,
  shownPlan,
  summarizePlan,
  writePlan,
  type ShownPlan,
} from '../../../../src/features/plans/work/plan-document.ts';
import { readSheet } from '../../../../src/features/plans/sheet/read-sheet.ts';
import { undoPlan } from '../../../../src/features/plans/work/undo-plan.ts';
import { forgetRecord } from '../../../../src/store/records/forget-record.ts';
import { versionOf } from '../../../../src/store/records/record-version.ts';
import { writtenColumns, rowWriter } from '../../../../src/store/tables/kind-table.ts';
import { ONE_DATABASE, type DATABASES, MIRRORS } from '../../../pull/steps.ts';
import { gate, kindNamed, thrownBy } from '../../../store/temp-mirror.ts';
import { opened, type Stage } from '../../../outbound/stage.ts';
import { decided, edit, exported, planOf, planTexts, saved } from './support.ts';

async function scene(database: (typeof DATABASES)[number]) {
  const on = await opened({ database, pulled: [] });
  const number = on.service.world.insert('clients', { code: 'C-1', name: 'Zoé', fax: '1' })['id'] as number;
  await on.pull('clients');
  return { on, number, id: String(number), lines: await exported(on) };
}

const made = async (on: Stage, session: Session, lines: string[][]) =>
  makePlan(session, {
    kinds: KINDS,
    sheet: await readSheet('clients.csv', saved(lines)),
    origin: 'clients.csv',
    createdBy: 'ada',
    now: on.clock.now(),
  });

/** A session in which something happens right before its next transaction begins. */
function interrupted(session: Session, event: () => Promise<unknown>): Session {
  let isOver = false;
  return {
    ...session,
    atomically: async (work) => {
      if (!isOver) await event();
      isOver = true;
      return session.atomically(work);
    },
  };
}

/** Runs work while a transaction of the same session is open. */
async function whileWriting<T>(session: Session, work: () => Promise<T>): Promise<T> {
  const end = gate();
  const writing = session.atomically(() => end.opened);
  onTestFinished(end.open);
  const result = await work();
  end.open();
  await writing;
  return result;
}

describe.each(ONE_DATABASE)('in %s', (database) => {
  test('a plan is compared, and looked at, while somebody else writes', async () => {
    const { on, id, lines } = await scene(database);
    expect(await whileWriting(on.session, () => made(on, on.session, lines))).toBeNull();
    edit(lines, id, { name: 'Ours' });
    const plan = (await planOf(on, lines))?.id ?? 0;
    const seen = await whileWriting(on.session, () => summarizePlan(on.session, KINDS, plan));
    expect(seen.counts).toEqual({ updates: 1, creates: 0, refusals: 0, entries: {} });
    on.service.world.update('clients', Number(id), { name: 'Theirs' });
    await on.pull('clients');
    const applied = () => thrownBy(() => applyPlan(on.session, decided(on, plan)));
    expect(await whileWriting(on.session, applied)).toMatchObject({ code: 'plan.stale' });
  });

  test('a plan of many rows is written slice by slice: others get turns in between', async () => {
    const { on, lines } = await scene(database);
    for (let id = 1_000_000; id < 1_002_000; id++) lines.push([...(lines[1] ?? []).with(0, String(id))]);
    const plan = await planOf(on, lines);
    expect(plan?.rows).toHaveLength(2_000);
    let turns = 0;
    let isOver = false;
    const takeTurns = (): void => {
      turns += 1;
      if (!isOver) setImmediate(takeTurns);
    };
    takeTurns();
    const text = await writePlan(on.session, KINDS, plan?.id ?? 0);
    isOver = true;
    expect(JSON.parse(text)).toEqual(documentOf(shownPlan, plan as ShownPlan));
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  test('what is forgotten while a plan is compared is not in the plan', async () => {
    const { on, number, id, lines } = await scene(database);
    edit(lines, id, { name: 'Zoé & Fils' });
    on.service.world.remove('clients', number);
    const forget = async (): Promise<unknown> => {
      const forgetting = { kind: kindNamed('clients'), id, by: 'ada', now: on.clock.now() };
      return on.session.atomically((tx) =>
        forgetRecord(tx, { ...forgetting, owners: TABLE_OWNERS, suppress: true }),
      );
    };
    const plan = (await made(on, interrupted(on.session, forget), lines)) ?? 0;
    expect(planTexts(await showPlan(on.session, KINDS, plan))).toEqual([
      `${id} refused: clients has no record ${id}`,
    ]);
    expect(await on.rows(sql`select 1 from plan_rows where cells like '%Zo%'`)).toEqual([]);
  });

  test('a record that changes after the check makes the plan stale, and nothing is stored', async () => {
    const { on, number, id, lines } = await scene(database);
    edit(lines, id, { name: 'Ours' });
    const plan = (await planOf(on, lines))?.id ?? 0;
    const change = async (): Promise<void> => {
      on.service.world.update('clients', number, { name: 'Theirs' });
      await on.pull('clients');
    };
    const session = interrupted(on.session, change);
    expect(await thrownBy(() => applyPlan(session, decided(on, plan)))).toMatchObject({ code: 'plan.stale' });
    expect(await on.rows(sql`select id from outbox`)).toEqual([]);
    expect((await showPlan(on.session, KINDS, plan)).state).toBe('stale');
  });

  test('many rows are put into the outbox by a few statements', async () => {
    const { session, plan } = await manyRows(database, 1_000);
    let statements = 0;
    const counting: Session = {
      ...session,
      atomically: (work) =>
        session.atomically((tx) => {
          const count = <T>(result: T): T => {
            statements++;
            return result;
          };
          const query: typeof tx.query = (statement) => count(tx.query(statement));
          const write: typeof tx.write = (statement) => count(tx.write(statement));
          return work({ ...tx, query, write });
        }),
    };
    await applyPlan(counting, { kinds: KINDS, id: plan, by: 'ada', now: new Date(), approvals: 0 });
    const rows = await session.query(sql`
      select count(*) as n, count(distinct o.id) as entries
      from plan_rows join outbox o on o.idempotency_key = 'plan:' || plan_id || ':' || position`);
    expect(rows.map((row) => Object.values(row).map(Number))).toEqual([[1_000, 1_000]]);
    expect(statements).toBeLessThan(100);
  });
});

const AT = '2026-01-01 00:00:00.000';

/** A mirror of many clients, and the plan of another city for each. */
async function manyRows(database: (typeof DATABASES)[number], count: number) {
  const session = await MIRRORS[database]();
  const clients = kindNamed('clients');
  const decode = createRecordDecoder(clients);
  const columns = writtenColumns(clients, session.dialect);
  const lines = ['id,city,_version'];
  const rows = Array.from({ length: count }, (_, n) => {
    const record = {
      id: n + 1,
      code: `C-${n}`,
      name: `Client ${n}`,
      city: 'Lévis',
      address: 'x'.repeat(500),
    };
    const raw = compactJson(record);
    lines.push(`${record.id},Rimouski,${versionOf(raw)}`);
    return rowWriter(clients, session.dialect)(decode(record).values, [AT, AT, null, 1, 1, raw]);
  });
  await session.atomically((tx) => tx.insertRows({ table: 'clients', columns, rows }));
  const sheet = await readSheet('clients.csv', new TextEncoder().encode(lines.join('\n')));
  const asked = { kinds: KINDS, sheet, kind: 'clients', origin: 'clients.csv', createdBy: 'ada' };
  const plan = (): Promise<number | null> => makePlan(session, { ...asked, now: new Date() });
  return { session, make: plan, plan: (await plan()) ?? 0 };
}

/** The turns that the event loop takes while work runs. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}

/** A step takes slices of 200 rows, or pages of 500. */
const ROWS_A_TURN = 500;

test('each step of a plan lets others have their turn after each slice of its rows', async () => {
  const rows = 5_000;
  const { session, make, plan } = await manyRows('SQLite', rows);
  const decision = { kinds: KINDS, id: plan, by: 'ada', now: new Date(), approvals: 0 };
  const turns = {
    plan: await turnsDuring(make),
    look: await turnsDuring(() => showPlan(session, KINDS, plan)),
    apply: await turnsDuring(() => applyPlan(session, decision)),
    undo: await turnsDuring(() => undoPlan(session, decision)),
  };
  for (const [step, count] of Object.entries(turns))
    expect(count, step).toBeGreaterThanOrEqual(rows / ROWS_A_TURN);
});
