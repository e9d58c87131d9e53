import { sql } from 'drizzle-orm';
import { parseInstant, formatInstant } from '../../lib/time/clock.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { REQUEST_BUDGETS } from '../../store/tables/change-tables.ts';
import { assignments, insertInto, selectOne } from '../../db/rows/rows.ts';

/** The budget of requests between sweeps as all processes share it. Instants are milliseconds since 1970. */
export interface RequestBudget {
  /** Requests that may be made; below 0, they were made on credit. */
  readonly tokens: number;
  /** When the tokens were counted. */
  readonly atMs: number;
}

const NAME = 'between sweeps';
const THOUSAND = 1000;

/**
 * Changes the shared budget; transactions of all processes follow each other. @param change Returns the new budget, or null to
 * leave it as it is. @returns The budget as it is then.
 */
export async function changeBudget(
  session: Session,
  now: Date,
  change: (budget: RequestBudget) => RequestBudget | null,
) {
  return session.atomically(async (tx) => {
    const before = await readOrBegin(tx, now);
    const after = change(before);
    if (after === null) return { budget: before, isChanged: false };
    await tx.query(
      sql`update request_budgets set ${assignments(REQUEST_BUDGETS, rowOf(after))} where name = ${NAME}`,
    );
    return { budget: after, isChanged: true };
  });
}

/** An empty budget at first: a process that starts again and again must not get a new one each time. */
async function readOrBegin(tx: Transaction, now: Date): Promise<RequestBudget> {
  const row = await selectOne(tx, REQUEST_BUDGETS, sql`where name = ${NAME}`);
  if (row !== null) return { tokens: row.thousandths / THOUSAND, atMs: parseInstant(row.filledAt).getTime() };
  const empty = { tokens: 0, atMs: now.getTime() };
  await tx.query(insertInto(REQUEST_BUDGETS, { name: NAME, ...rowOf(empty) }));
  return empty;
}

const rowOf = (budget: RequestBudget) => ({
  thousandths: Math.round(budget.tokens * THOUSAND),
  filledAt: formatInstant(new Date(budget.atMs)),
});
