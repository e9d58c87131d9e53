import type { Kind } from '../../catalog/kind.ts';
import type { Queryable } from '../../db/session/session.ts';
import { SyncError, UsageError } from '../../lib/sync-error.ts';
import { makePlan } from '../plans/work/make-plan.ts';
import { RESULT_COLUMNS, resultLines, showPlan } from '../plans/work/plan-document.ts';
import { openPlansFrom } from '../plans/store.ts';
import { findRecord } from '../../store/records/record-store.ts';
import { VERSION_COLUMN, versionOf } from '../../store/records/record-version.ts';
import type { Findings } from './answer.ts';
import type { ToolContext } from './context.ts';

/** New cells of a record, by field. */
interface ProposedChange {
  readonly id: string;
  readonly set: Readonly<Record<string, string>>;
}

/**
 * Makes a plan of changes, as from a spreadsheet with the same cells. Nothing is sent: a person applies the plan.
 *
 * @param by The user whose assistant proposes.
 * @throws {SyncError} `mcp.proposals` if the user has too many open ones; `mcp.propose` if the changes do not set the same fields;
 * and what `makePlan` throws.
 */
export async function proposeChanges(
  context: ToolContext,
  kind: Kind,
  changes: readonly ProposedChange[],
  by: string,
): Promise<Findings> {
  const { session, kinds, clock } = context;
  const fields = Object.keys(changes[0]?.set ?? {});
  const isSame = changes.every(
    (change) => Object.keys(change.set).toSorted().join() === fields.toSorted().join(),
  );
  if (fields.length === 0 || !isSame)
    throw new UsageError('The changes of one plan set the same fields, at least one.', {
      code: 'mcp.propose',
      hint: 'Propose the others apart.',
    });
  const columns = ['id', VERSION_COLUMN, ...fields];
  const rows = [];
  for (const [index, { id, set }] of changes.entries()) {
    const record = await findRecord(session, kind.name, id);
    const version = record === null ? '' : versionOf(record.raw);
    const texts = [id, version, ...fields.map((name) => set[name] ?? '')];
    const cells = new Map(texts.map((text, column) => [column, { text, isFormula: false }]));
    rows.push({ position: index + 2, cells });
  }
  const id = await makePlan(session, {
    kinds,
    sheet: { columns, rows, decimalSign: '.' },
    kind: kind.name,
    origin: PROPOSAL,
    createdBy: by,
    now: clock.now(),
    allowReordered: true,
    check: (tx) => refuseMore(tx, by),
  });
  const plan = id === null ? null : await showPlan(session, kinds, id);
  const lines = plan === null ? [] : resultLines(plan);
  return {
    columns: RESULT_COLUMNS.map((column) => column.name),
    rows: lines.map((line) => line.map((value) => (value === null ? null : String(value)))),
    kinds: [kind.name],
    more: { plan: id, page: id === null ? null : `/plans/${id}` },
  };
}

const PROPOSAL = 'assistant';
const MOST_OPEN = 50;

async function refuseMore(db: Queryable, by: string): Promise<void> {
  const [oldest, ...others] = await openPlansFrom(db, PROPOSAL, by);
  if (oldest === undefined || others.length + 1 < MOST_OPEN) return;
  throw new SyncError(`${by} has ${others.length + 1} open proposals; the oldest is plan ${oldest}.`, {
    code: 'mcp.proposals',
    hint: `Apply it or withdraw it first, on its page /plans/${oldest} or by: bms-sync withdraw ${oldest}`,
  });
}
