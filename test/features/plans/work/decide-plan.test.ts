import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../../src/catalog/kinds/catalog.ts';
import { applyPlan } from '../../../../src/features/plans/work/apply-plan.ts';
import { approvePlan, endPlan } from '../../../../src/features/plans/work/decide-plan.ts';
import type { Session } from '../../../../src/db/session/session.ts';
import { readPlans, readWaitingPlans, showPlan } from '../../../../src/features/plans/work/plan-document.ts';
import { undoPlan } from '../../../../src/features/plans/work/undo-plan.ts';
import { thrownBy } from '../../../store/temp-mirror.ts';
import { ONE_DATABASE, type DATABASES } from '../../../pull/steps.ts';
import { opened } from '../../../outbound/stage.ts';
import { edit, exported, planOf } from './support.ts';

/** A plan of Ada's, where another person must approve. */
async function scene(database: (typeof DATABASES)[number]) {
  const on = await opened({ database, pulled: [] });
  const number = on.service.world.insert('clients', { code: 'C-1', name: 'Zoé' })['id'] as number;
  await on.pull('clients');
  const lines = await exported(on);
  edit(lines, String(number), { name: 'Zoé & Fils' });
  const plan = (await planOf(on, lines))?.id ?? 0;
  const now = on.clock.now();
  const apply = (planId = plan) =>
    applyPlan(on.session, { kinds: KINDS, id: planId, by: 'ada', now, approvals: 1 });
  const approve = (by: string, planId = plan) =>
    approvePlan(on.session, { kinds: KINDS, id: planId, by, now, approvals: 1 });
  const codeOf = async (work: () => Promise<void>): Promise<unknown> =>
    ((await thrownBy(work)) as { readonly code?: string }).code;
  return { on, plan, now, apply, approve, codeOf };
}

describe.each(ONE_DATABASE)('with approvals, in %s', (database) => {
  test('a plan is applied once another person than its author agrees, and so is its undo', async () => {
    const { on, plan, now, apply, approve, codeOf } = await scene(database);
    expect(await codeOf(apply)).toBe('plan.unapproved');
    const next = async () => (await showPlan(on.session, KINDS, plan, { plans: { approvals: 1 } })).next;
    expect(await next()).toBe('Another user must approve it before it can be applied.');
    expect(await codeOf(() => approve('ADA'))).toBe('plan.own');
    expect(await codeOf(apply)).toBe('plan.unapproved');
    await approve('Marie');
    expect(await codeOf(() => approve('Léo'))).toBe('plan.approved');
    expect(await next()).toBe('It can be applied.');
    expect(await showPlan(on.session, KINDS, plan)).toMatchObject({ createdBy: 'ada', approvedBy: 'Marie' });
    await apply();
    expect(await on.rows(sql`select pushed_by from outbox`)).toEqual([{ pushed_by: 'ada' }]);
    expect(await codeOf(() => approve('Marie'))).toBe('plan.applied');

    await on.pass(1);
    const undo = await undoPlan(on.session, { kinds: KINDS, id: plan, by: 'Marie', now });
    expect(await codeOf(() => apply(undo))).toBe('plan.unapproved');
    expect(await codeOf(() => approve('Marie', undo))).toBe('plan.own');
    await approve('ada', undo);
    await apply(undo);
    expect(await showPlan(on.session, KINDS, undo)).toMatchObject({
      counts: { updates: 1, creates: 0, refusals: 0, entries: { ready: 1 } },
    });
  });

  test('of an approval and a withdrawal at once the first one wins', async () => {
    const { on, plan, now, approve, codeOf } = await scene(database);
    const by = { who: 'ada', role: 'operator', via: 'api' } as const;
    const withdraw = (session = on.session) => endPlan(session, { id: plan, by, now }, 'withdrawn', null);
    /** A session in which another decision lands between what a decision reads and what it writes. */
    const beaten = (decide: () => Promise<void>): Session => ({
      ...on.session,
      atomically: async (work) => {
        await decide();
        return on.session.atomically(work);
      },
    });
    expect(await codeOf(() => withdraw(beaten(() => approve('Marie'))))).toBe('plan.approved');
    await on.session.atomically((tx) =>
      tx.write(sql`update plans set approved_at = null, approved_by = null`),
    );
    const late = { kinds: KINDS, id: plan, by: 'Marie', now, approvals: 1 };
    expect(await codeOf(() => approvePlan(beaten(withdraw), late))).toBe('plan.withdrawn');
    expect(await showPlan(on.session, KINDS, plan)).toMatchObject({ state: 'withdrawn', approvedBy: null });
  });

  test('nobody approves rows that are not those that were shown, nor are they applied afterwards', async () => {
    const { on, apply, approve, codeOf } = await scene(database);
    const alter = (from: string, to: string) =>
      on.session.atomically((tx) =>
        tx.query(sql`update plan_rows set cells = replace(cells, ${from}, ${to}) returning position`),
      );
    await alter('Fils', 'Co');
    expect(await codeOf(() => approve('Marie'))).toBe('plan.altered');
    await alter('Co', 'Fils');
    await approve('Marie');
    await alter('Fils', 'Co');
    expect(await codeOf(apply)).toBe('plan.altered');
  });

  test('a plan that changes nothing waits for nobody, and a stale one is not approved: each says so', async () => {
    const { on, plan, apply, approve, codeOf } = await scene(database);
    const lines = await exported(on);
    edit(lines, '999', { name: 'Nobody' });
    const refused = (await planOf(on, lines))?.id ?? 0;
    expect(await codeOf(() => apply(refused))).toBe('plan.empty');
    expect(await codeOf(() => approve('Marie', refused))).toBe('plan.empty');
    expect((await readWaitingPlans(on.session, KINDS, { approvals: 1 })).map(({ id }) => id)).toEqual([plan]);

    await on.pass(60);
    const [row] = (await showPlan(on.session, KINDS, plan)).rows;
    on.service.world.update('clients', Number(row?.recordId), { name: 'Theirs' });
    await on.pull('clients');
    expect(await codeOf(() => approve('Marie'))).toBe('plan.stale');
    expect(await codeOf(apply)).toBe('plan.stale');
    expect((await readPlans(on.session, KINDS, 10)).map(({ id, state }) => [id, state])).toEqual([
      [refused, 'open'],
      [plan, 'stale'],
    ]);
  });
});
