import * as z from 'zod';
import { findKind } from '../../catalog/find-kind.ts';
import type { Kind } from '../../catalog/kind.ts';
import { SyncError } from '../../lib/sync-error.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { localTime } from '../../lib/time/zone-offset.ts';
import { CLEARED } from '../plans/sheet/read-cell.ts';
import { kindsOfViews } from '../reports/report.ts';
import { readMissing } from '../../store/records/deletion-store.ts';
import { isOff, readFreshness } from '../../store/kinds/status-store.ts';
import type { UserRole } from '../../store/users/user-store.ts';
import { filterKindsWithRows, readOwnViews } from '../../views/views.ts';
import { toAnswer, type ToolAnswer, type Findings, type KindStates } from './answer.ts';
import type { Caller, ToolContext } from './context.ts';
import { describeMirror, describeView } from './describe.ts';
import { proposeChanges } from './propose.ts';
import { readRecord } from './record.ts';
import { answerReport } from './reports.ts';
import { LONGEST_SQL, MOST_ROWS, QUERY_MS, refusedError } from './sql/question.ts';

/** A tool that assistants may call. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly role: UserRole;
  /** @param states The states of the kinds before the call. */
  readonly run: (
    context: ToolContext,
    caller: Caller,
    states: KindStates,
    input: z.output<Input>,
  ) => Promise<Findings>;
}

const declareTool = <Input extends z.ZodObject>(tool: Tool<Input>): Tool => ({
  ...tool,
  run: (context, caller, states, values) => tool.run(context, caller, states, tool.input.parse(values)),
});

const MOST_CHANGES = 200;

const kindName = z.string().describe('record kind, such as clients');
// Some programs take no schema with alternatives, so inputs are texts; a number that keeps all its digits, or null, is read as one.
const idText = z.preprocess((id) => (Number.isSafeInteger(id) ? String(id) : id), z.string());
const newValue = z.preprocess((value) => value ?? CLEARED, z.string());

export const TOOLS: readonly Tool[] = [
  declareTool({
    name: 'describe',
    role: 'viewer',
    description:
      'List views, reports and record kinds with their state; or, with a view, its columns and relations. Kinds also have bi_deleted_KIND and bi_KIND_history.',
    input: z.object({ view: z.string().optional() }),
    run: (context, caller, states, { view }) =>
      view === undefined
        ? describeMirror(context, states, caller.language)
        : describeView(context, view, caller.language),
  }),
  declareTool({
    name: 'report',
    role: 'viewer',
    description:
      'Run a ready report, over all rows or those of some days, with totals. Prefer it to a query of your own.',
    input: z.object({
      name: z.string().describe('as describe lists it'),
      from: z.string().optional().describe('first day: 2026-03-01'),
      to: z.string().optional().describe('last day: 2026-03-31'),
    }),
    run: (context, caller, _states, request) => answerReport(context, caller, request),
  }),
  declareTool({
    name: 'query',
    role: 'viewer',
    description: 'Run one SQL select over the views.',
    input: z.object({
      sql: z.string().max(LONGEST_SQL),
      limit: z.int().min(1).max(MOST_ROWS).default(MOST_ROWS),
    }),
    run: async (context, caller, _states, { sql, limit }) => {
      refuseClock(sql, companyDay(context));
      if (sql.includes('\0')) throw refusedError('it contains a null character'); // Where parsers end.
      const views = (await readOwnViews(context.session, context.kinds)).map((view) => view.name);
      const answer = await context.readSql({ sql, limit, views, timeoutMs: QUERY_MS }, caller);
      const more = CUT.test(sql) ? { hint: 'Units / 10000 are cut: write / 10000.0.' } : {};
      return { ...answer, kinds: kindsOfViews(answer.views, context.kinds), more };
    },
  }),
  declareTool({
    name: 'record',
    role: 'viewer',
    description:
      'Show a record with its history, now or at an instant; or find records by name, phone, e-mail or code.',
    input: z.object({
      kind: kindName,
      id: idText.optional(),
      text: z.string().max(100).optional().describe('words to search for, in place of the id'),
      at: z.string().optional().describe('2026-03-01T12:00:00Z, or 2026-03-01 for the end of that day'),
    }),
    run: async (context, _caller, _states, { kind, ...input }) =>
      readRecord(context, requireKind(context, kind), input),
  }),
  declareTool({
    name: 'propose',
    description:
      'Make a plan of changes to records. It changes nothing: a person must apply the plan on its page.',
    role: 'operator',
    input: z.object({
      kind: kindName,
      changes: z
        .array(z.object({ id: idText, set: z.object({}).catchall(newValue) }))
        .min(1)
        .max(MOST_CHANGES)
        .describe('new values by field, as text; NULL clears a field'),
    }),
    run: async (context, caller, _states, { kind, changes }) =>
      proposeChanges(context, requireKind(context, kind), changes, caller.name),
  }),
];

const CUT = /_e4\)? ?\/ ?10+(?![\d.])/i;

/** The day by the clocks of the company. */
const companyDay = ({ clock, timezone }: ToolContext): string =>
  localTime(timezone, clock.now()).slice(0, 'YYYY-MM-DD'.length);

const CLOCK = /\bcurrent_(?:date|time|timestamp)\b|\blocaltime(?:stamp)?\b|\bnow\s*\(|'now'/i;

/** Refuses the clock of the database: SQLite's is UTC, and PostgreSQL's follows the session. */
function refuseClock(sql: string, today: string): void {
  const [found] = CLOCK.exec(sql.replaceAll(/'(?!now')(?:[^']|'')*'/gi, "''")) ?? [];
  if (found !== undefined) throw refusedError(`write the company's day, '${today}', in place of ${found}`);
}

const requireKind = (context: ToolContext, name: string): Kind =>
  findKind(context.kinds, name, { code: 'mcp.kind' });

/** Runs a tool, logs the call in one line, and returns the answer. @throws {SyncError} What the tool throws. */
export async function answerCall(
  context: ToolContext,
  caller: Caller,
  tool: Tool,
  values: Readonly<Record<string, unknown>>,
): Promise<ToolAnswer> {
  const { clock, logger, session } = context;
  const startedMs = clock.monotonicMs();
  const call = { event: 'mcp.called', who: caller.name, tool: tool.name };
  const measured = () => ({ ms: Math.round(clock.monotonicMs() - startedMs) });
  try {
    const [freshness, missing] = [await readFreshness(session), await readMissing(session)];
    const states = { freshness, missing, stale: await context.readStale() };
    const now = formatInstant(clock.now());
    const kinds = await filterKindsWithRows(session, context.kinds);
    const found = await tool.run({ ...context, kinds }, caller, states, values);
    const off = freshness.filter(isOff).map(({ kind }) => kind); // They count only where their own views are asked for.
    const on = kinds.map(({ name }) => name).filter((name) => !off.includes(name));
    const findings = { ...found, kinds: found.kinds ?? on };
    const answer = {
      ...toAnswer(findings, states, { now, language: caller.language }),
      today: companyDay(context),
    };
    const { returned: rows, truncated } = answer;
    const facts = { kinds: findings.kinds, rows, truncated, ...measured() };
    logger.info({ ...call, ...facts }, `${caller.name} called ${tool.name}`);
    return answer;
  } catch (error) {
    const code = error instanceof SyncError ? error.code : 'internal';
    const facts = { kinds: [], rows: 0, code, ...measured() };
    logger.warn({ ...call, ...facts }, `${caller.name} called ${tool.name}: ${code}`);
    throw error;
  }
}
