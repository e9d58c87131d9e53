import { readFileSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { documentOf } from '../../lib/json/document.ts';
import { compactJson } from '../../lib/json/json.ts';
import { UsageError, describeFileFault } from '../../lib/sync-error.ts';
import { capitalize, withFullStop } from '../../lib/text/text.ts';
import { countPlans } from './store.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import {
  applyCorrections,
  approveCorrections,
  rejectCorrections,
  undoCorrections,
  withdrawCorrections,
} from './operations/plans.ts';
import { KIND, MATCH, planFile, type SheetRules } from './operations/upload-plan.ts';
import {
  NOTHING_TO_APPLY,
  PLAN_COUNTS_TEXT,
  planList,
  readPlans,
  showPlan,
  shownPlan,
  type ShownPlan,
} from './work/plan-document.ts';
import { translatorFor } from '../../lib/text/translator.ts';
import { MAX_BYTES, sheetTooLarge } from './sheet/sheet-table.ts';
import { readNames, type NameOf } from '../../outbound/mirror-rows.ts';
import { createCommand, type CommandContext, type CommonOptions } from '../../cli/parts/command.ts';
import { parseWholeNumber } from '../../cli/parts/input.ts';
import { takeFirst, truncateText, textTable, type Printed } from '../../cli/parts/io.ts';
import { readingCommand, type Printout, type OpenMirror } from '../../cli/parts/operation-command.ts';

type Options = CommonOptions & SheetRules & { readonly limit?: number };
type Mirror = OpenMirror<Options>;

export function planCommand(context: CommandContext): Command {
  const command = createCommand('plan')
    .argument('<file|number>', 'export as CSV or workbook, or the number of a plan to show')
    .option('--kind <kind>', KIND)
    .option('--match <field>', MATCH)
    .option('--create', 'create records from rows without an id or a match, which are refused otherwise')
    .option('--allow-reordered', 'accept a column whose values only changed places');
  const read = async (mirror: Mirror, what: string): Promise<Printout> => {
    const { parts } = mirror;
    const id = /^\d+$/.test(what)
      ? Number(what)
      : await planFile(parts, { ...mirror.options, name: what, bytes: bytesOf(what) }, parts.by.who);
    return id === null ? [{ id: null, rows: [] }, ['Nothing would change.']] : planAnswer(mirror, id);
  };
  return readingCommand(context, command, read);
}

export const plansCommand = (context: CommandContext): Command =>
  readingCommand(
    context,
    createCommand('plans').option('--limit <n>', `maximum number (default: ${MAX_LISTED})`, parseWholeNumber),
    (mirror: Mirror) => listAnswer(context, mirror),
  );

const MAX_LISTED = 50;

async function listAnswer(context: CommandContext, { session, options, parts }: Mirror): Promise<Printout> {
  const { limit = MAX_LISTED } = options;
  const total = await countPlans(session);
  const plans = takeFirst(await readPlans(session, parts.kinds, limit + 1), limit, context.io, { total });
  const names = ['plan', 'state', 'kind', 'from', 'by', 'since (UTC)', 'approved by'];
  const rows = plans.map(({ id, state, kind, origin, createdBy, createdAt, approvedBy }) => {
    return [id, state, kind, origin, createdBy, createdAt, approvedBy];
  });
  const table = textTable(names, rows);
  return [documentOf(planList, { plans }), plans.length === 0 ? ['No plans.'] : [table]];
}

function bytesOf(file: string): Uint8Array {
  try {
    if (statSync(file).size > MAX_BYTES) throw sheetTooLarge(`${MAX_BYTES} bytes`);
    return readFileSync(file);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${file} ${describeFileFault(error)}.`, {
      code: 'usage.file',
      hint: 'Name an edited file from `bms-sync export KIND --excel --out FILE`.',
      cause: error,
    });
  }
}

/** The command of a decision on a plan; further members of its input are options. */
const decisionCommand =
  (operation: AnyOperation) =>
  (context: CommandContext): Command => {
    const command = createCommand(operation.name).argument('<plan>', 'number of the plan');
    const { shape } = operation.input;
    for (const [name, schema] of Object.entries(shape).filter(([name]) => name !== 'id')) {
      const option = schema.safeParse(true).success ? `--${name}` : `--${name} <text>`;
      if (schema.safeParse(undefined).success) command.option(option, schema.description);
      else command.requiredOption(option, schema.description);
    }
    const read = async (mirror: Mirror, id: string): Promise<Printout> => {
      const given = Object.entries(mirror.options).filter(([name]) => name in shape);
      const document = await operation.run(mirror.parts, { id, ...Object.fromEntries(given) });
      return planAnswer(mirror, Number(document['id']));
    };
    return readingCommand(context, command, read);
  };

export const approveCommand = decisionCommand(approveCorrections);
export const rejectCommand = decisionCommand(rejectCorrections);
export const withdrawCommand = decisionCommand(withdrawCorrections);
export const undoCommand = decisionCommand(undoCorrections);
export const applyCommand = decisionCommand(applyCorrections);

/** The answer that shows a plan. */
async function planAnswer({ session, config, parts }: Mirror, id: number): Promise<Printout> {
  const plan = await showPlan(session, parts.kinds, id, parts);
  const records = plan.rows.map(({ recordId }) => ({ kind: plan.kind, recordId }));
  const nameOf = await readNames(session, parts.kinds, records);
  const notes = plan.notes.map((note) => `\n${note}`);
  const texts = [...planTexts(plan, nameOf), ...notes, nextStep(plan, config.plans.approvals)];
  return [documentOf(shownPlan, plan), texts];
}

const LONGEST_SHOWN = 40;

const LONGEST_NAME = 30;

const ROWS_NAMED = 5;

function* planTexts(plan: ShownPlan, nameOf: NameOf): Iterable<Printed> {
  const { id, kind, origin, state, counts, rows, stale, reason } = plan;
  const { updates, creates, refusals } = counts;
  const counted = translatorFor('en').t(PLAN_COUNTS_TEXT, { updates, creates, refusals });
  yield `Plan ${id} for ${kind}, from ${origin}: ${counted}. It is ${state}.`;
  const { createdBy: Made, approvedBy: Approved, appliedBy: Applied, closedBy } = plan;
  const deciders = { Made, Approved, Applied, [capitalize(state)]: closedBy };
  yield Object.entries(deciders)
    .flatMap(([what, who]) => (who === null ? [] : `${what} by ${who}.`))
    .join(' ');
  if (reason !== null) yield `Reason: ${withFullStop(reason)}`;
  const changed = rows.filter((row) => row.cells.length > 0);
  const refused = rows.filter((row) => row.refusal !== null);
  if (changed.length > 0) yield '';
  const lines = changed.flatMap(({ position, recordId, cells, entry }) =>
    cells.map((cell) => [
      position,
      recordId ?? 'new',
      truncateText(nameOf(kind, recordId), LONGEST_NAME),
      cell.field,
      truncateText(compactJson(cell.old), LONGEST_SHOWN),
      truncateText(compactJson(cell.new), LONGEST_SHOWN),
      entry && `entry ${entry.id}: ${entry.state}`,
    ]),
  );
  if (changed.length > 0) yield textTable(['row', 'record', 'name', 'field', 'old', 'new', ''], lines);
  if (refused.length > 0) yield '\nRefused:';
  for (const [refusal, alike] of Map.groupBy(refused, (row) => row.refusal ?? '')) {
    const shown = alike.slice(0, ROWS_NAMED).map((row) => row.position);
    const more = alike.length > shown.length ? ` and ${alike.length - shown.length} more` : '';
    yield `  ${alike.length === 1 ? 'Row' : 'Rows'} ${shown.join(', ')}${more}: ${withFullStop(refusal)}`;
  }
  if (stale.length > 0) yield '\nIt is stale and cannot be applied:';
  for (const sentence of stale) yield `  ${sentence}`;
}

/** The next command for a plan; a plan that another person must approve cannot be applied yet. */
function nextStep({ id, state, approvedBy, next }: ShownPlan, approvals: number): string {
  if (state === 'applied') return `\nTo show it: bms-sync plan ${id}. To undo it: bms-sync undo ${id}`;
  if (next === null) return state === 'open' ? `\n${NOTHING_TO_APPLY}` : '';
  if (state === 'stale') return `\n${next}`;
  return approvals > 0 && approvedBy === null
    ? `\n${next} That user runs: bms-sync approve ${id}, or bms-sync reject ${id} --reason TEXT`
    : `\nTo send exactly these changes: bms-sync apply ${id}`;
}
