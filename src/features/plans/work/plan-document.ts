import * as z from 'zod';
import type { Kind } from '../../../catalog/kind.ts';
import { anyJson, documentOf, instant, type DocumentOf } from '../../../lib/json/document.ts';
import { compactJson, plainJson } from '../../../lib/json/json.ts';
import type { MessageKey } from '../../../lib/text/translator.ts';
import { ownEventLoopTurn } from '../../../lib/time/event-loop-turn.ts';
import type { Queryable, Session } from '../../../db/session/session.ts';
import {
  countPlanRows,
  listPlans,
  planRowSlices,
  plansToApprove,
  readPlan,
  readPlanRows,
  type PlanRow,
} from '../store.ts';
import { isSameUserName, type UserRole } from '../../../store/users/user-store.ts';
import { readSendStop } from '../../../outbound/decisions/entry-list.ts';
import type { CounterReader } from '../../../outbound/freeze.ts';
import { parseCells } from './judge-row.ts';
import { findState, remakeWords } from './plan-state.ts';

/** Counts the rows of a plan, as a sentence. */
export const PLAN_COUNTS_TEXT: MessageKey =
  '{updates, plural, one {# update} other {# updates}}, {creates, plural, one {# create} other {# creates}}, {refusals, plural, one {# refusal} other {# refusals}}';

const person = z.string().nullable();

const listedPlan = z.object({
  id: z.int(),
  kind: z.string(),
  state: z
    .enum(['open', 'stale', 'applied', 'rejected', 'withdrawn'])
    .describe('stale: it can no longer be applied'),
  origin: z.string().describe('the name of the file, or the plan that it undoes'),
  checksum: z.string().describe('of the kind and the rows'),
  createdAt: instant,
  createdBy: z.string(),
  approvedAt: instant.nullable(),
  approvedBy: person,
  appliedAt: instant.nullable(),
  appliedBy: person,
  closedAt: instant.nullable().describe('when it was rejected or withdrawn'),
  closedBy: person,
  reason: z.string().nullable().describe('why it was rejected'),
});

/** Plans without their rows. */
export const planList = z.object({ plans: z.array(listedPlan) });

const planRow = z.object({
  position: z.int().describe('number of the row in the sheet'),
  operation: z.enum(['create', 'update']),
  recordId: z.string().nullable(),
  refusal: z.string().nullable().describe('why it, or a part of it, is left out'),
  cells: z.array(z.object({ field: z.string(), old: anyJson, new: anyJson })),
  entry: z.object({ id: z.int(), state: z.string(), verdict: z.string().nullable() }).nullable(),
});

const planSummary = listedPlan.extend({
  stale: z.array(z.string()).describe('why it can no longer be applied'),
  next: z.string().nullable().describe('what comes next; null: nothing'),
  notes: z.array(z.string()).describe('why its entries are not sent at present'),
  counts: z.object({
    updates: z.int(),
    creates: z.int(),
    refusals: z.int(),
    entries: z.record(z.string(), z.int()).describe('by their state'),
  }),
});

export const shownPlan = planSummary.extend({ rows: z.array(planRow) });

/** A plan as people and programs see it. */
export type ShownPlan = DocumentOf<typeof shownPlan>;

/** The latest plans with their states, the newest first. @param before Only plans with a lower number. */
export async function readPlans(db: Queryable, kinds: readonly Kind[], limit: number, before?: number) {
  const plans = await listPlans(db, limit, before);
  return Promise.all(plans.map(async (plan) => ({ ...plan, ...(await findState(db, kinds, plan)) })));
}

/** A plan without its rows. */
export type PlanSummary = Awaited<ReturnType<typeof summarizePlan>>;

/** The setting `plans`, and the counter by which a plan shows what keeps its entries from being sent. */
interface PlanParts {
  readonly plans?: Pick<PlanRules, 'approvals'>;
  readonly sendCounter?: CounterReader;
}

/**
 * Reads a plan and counts its rows; `stale`: why an open one can no longer be applied; `next`: what comes next, null once it is
 * decided, or changes nothing; `stop`: what keeps entries that are ready from being sent.
 *
 * @throws {SyncError} `plan.absent`
 */
export async function summarizePlan(db: Session, kinds: readonly Kind[], id: number, parts: PlanParts = {}) {
  const { plans: { approvals } = { approvals: 0 }, sendCounter } = parts;
  const plan = await readPlan(db, id);
  const { state, stale } = await findState(db, kinds, plan);
  const counts = await countPlanRows(db, id);
  const isWaiting = state === 'open' && counts.updates + counts.creates > 0;
  const step = approvals > 0 && plan.approvedBy === null ? NEEDS_APPROVAL : CAN_BE_APPLIED;
  const next = state === 'stale' ? remakeWords(plan) : isWaiting ? step : null;
  const stop =
    sendCounter && counts.entries['ready'] ? await readSendStop({ session: db, sendCounter }) : null;
  return { ...plan, state, stale, counts, next, stop, notes: stop === null ? [] : [stop.note] };
}

const NEEDS_APPROVAL: MessageKey = 'Another user must approve it before it can be applied.';
const CAN_BE_APPLIED: MessageKey = 'It can be applied.';
/** Of an open plan without a next step. */
export const NOTHING_TO_APPLY: MessageKey = 'It changes nothing: there is nothing to apply.';

/** How many other people must approve a plan, and who looks at it, if they have a name. */
export interface PlanRules {
  readonly approvals: number;
  readonly user?: { readonly name: string; readonly role: UserRole } | null;
}

/** Nobody approves an own plan. */
export const isOwnPlan = ({ createdBy }: PlanSummary, { user }: PlanRules): boolean =>
  user ? isSameUserName(user.name, createdBy) : false;

const MOST_WAITING = 20;
const PLANS_NAMED = 3;

/** The latest plans that wait for an approval which the user can give. */
export async function readWaitingPlans(session: Session, kinds: readonly Kind[], rules: PlanRules) {
  const waiting: PlanSummary[] = [];
  for (const id of rules.approvals === 0 ? [] : await plansToApprove(session, MOST_WAITING)) {
    const plan = await summarizePlan(session, kinds, id);
    if (plan.state === 'open' && plan.next !== null && !isOwnPlan(plan, rules)) waiting.push(plan);
    if (waiting.length === PLANS_NAMED) break;
  }
  return waiting;
}

/** Reads a plan with all its rows and the states of their entries. */
export async function showPlan(
  session: Session,
  kinds: readonly Kind[],
  id: number,
  parts?: PlanParts,
): Promise<ShownPlan> {
  const summary = await summarizePlan(session, kinds, id, parts);
  return { ...summary, rows: (await readPlanRows(session, id)).map(shownRow) };
}

/** Writes the same as JSON. All of a hundred thousand rows in one turn of the event loop would hold up all others for seconds. */
export async function writePlan(
  session: Session,
  kinds: readonly Kind[],
  id: number,
  parts?: PlanParts,
): Promise<string> {
  const head = compactJson(documentOf(planSummary, await summarizePlan(session, kinds, id, parts)));
  const rows: string[] = [];
  for await (const slice of planRowSlices(session, id)) {
    for (const row of slice) rows.push(compactJson(documentOf(planRow, shownRow(row))));
    await ownEventLoopTurn();
  }
  return `${head.slice(0, -1)},"rows":[${rows.join(',')}]}`;
}

/** A row of a plan with the state of its entry. */
export type ShownRow = DocumentOf<typeof planRow>;

/** Shows a stored row. */
export function shownRow(row: PlanRow): ShownRow {
  const { position, operation, recordId, refusal, entryId, state, verdict } = row;
  const entry = entryId === null || state === null ? null : { id: entryId, state, verdict };
  return { position, operation, recordId, refusal, cells: parseCells(row.cells), entry };
}

/** The columns of a plan's result. */
export const RESULT_COLUMNS = 'row operation record field old new refused entry state verdict'
  .split(' ')
  .map((name) => ({ name, type: 'text' as const }));

/** The result of a plan: one line per cell, and one per refused row. */
export const resultLines = (plan: ShownPlan) =>
  plan.rows.flatMap((row) => {
    const { position, operation, recordId, cells, refusal, entry } = row;
    const line = (field: string | null, values: readonly (string | null)[]) => {
      const entryFacts = [entry?.id ?? null, entry?.state ?? null, entry?.verdict ?? null];
      return [position, operation, recordId, field, ...values, ...entryFacts];
    };
    const changed = cells.map((cell) => line(cell.field, [plainJson(cell.old), plainJson(cell.new), null]));
    return refusal === null ? changed : [...changed, line(null, [null, null, refusal])];
  });
