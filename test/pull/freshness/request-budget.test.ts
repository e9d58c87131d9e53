import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { changeBudget, type RequestBudget } from '../../../src/pull/freshness/request-budget.ts';
import { DATABASES } from '../../store/databases.ts';
import { NOON, later } from '../../store/temp-mirror.ts';

const less = (budget: RequestBudget): RequestBudget | null =>
  budget.tokens < 1 ? null : { ...budget, tokens: budget.tokens - 1 };

describe.each(DATABASES)('the budget of requests, in %s', (_name, open) => {
  test('begins empty, and is there for whoever comes next', async () => {
    const session = await open();
    expect(await changeBudget(session, NOON, less)).toMatchObject({
      budget: { tokens: 0 },
      isChanged: false,
    });
    const full = { tokens: 2.5, atMs: later(500).getTime() };
    await changeBudget(session, NOON, () => full);
    expect((await changeBudget(session, later(9000), () => null)).budget).toEqual(full);
    expect(await session.query(sql`select name from request_budgets`)).toEqual([{ name: 'between sweeps' }]);
  });

  test('is spent once, however many take from it at the same time', async () => {
    const session = await open();
    await changeBudget(session, NOON, (budget) => ({ ...budget, tokens: 5 }));
    const taken = await Promise.all(Array.from({ length: 12 }, () => changeBudget(session, NOON, less)));
    expect(taken.filter(({ isChanged }) => isChanged)).toHaveLength(5);
  });
});
