import type { Command } from 'commander';
import { requireListedKinds } from '../config/known-kinds.ts';
import { documentOf } from '../lib/json/document.ts';
import { SyncError } from '../lib/sync-error.ts';
import { isServiceWide } from '../catalog/fault-reasons.ts';
import { reportLabel, runLabel } from '../words/outcome-texts.ts';
import {
  countRuns,
  findRun,
  listRuns,
  readTries,
  ROW_COUNTS,
  type KindReport,
  type Run,
} from '../store/runs/run-store.ts';
import { runList, shownRun } from '../runs/run-document.ts';
import { createCommand, type CommonOptions, type CommandContext } from './parts/command.ts';
import { parseWholeNumber } from './parts/input.ts';
import { takeFirst, textTable, truncateText, utc, type Printed } from './parts/io.ts';
import { readingCommand, type OpenMirror } from './parts/operation-command.ts';

const RUNS_LISTED = 20;

type ListOptions = CommonOptions & { readonly limit?: number };

export function runsCommand(context: CommandContext): Command {
  const list = createCommand('list', 'list the latest runs').option(
    '--limit <n>',
    `maximum number (default: ${RUNS_LISTED})`,
    parseWholeNumber,
  );
  readingCommand(context, list, async ({ session, config, options }: OpenMirror<ListOptions>) => {
    const { limit } = options;
    const wanted = { limit: limit ?? RUNS_LISTED + 1 };
    const total = await countRuns(session);
    const runs = takeFirst(await listRuns(session, wanted), limit ?? RUNS_LISTED, context.io, { total });
    const all = requireListedKinds(config).map((kind) => kind.name);
    const rows = runs.map((run) => {
      const { id, startedAt, finishedAt, kinds, repeats } = run;
      const names = all.every((name) => kinds.includes(name)) ? 'all' : kinds.join(' ');
      const last = repeats.at(-1);
      const tries = last === undefined ? 1 : `${repeats.length + 1} (${last.id}: ${runLabel(last)})`;
      const work = truncateText(workOf(run), LONGEST_WORK);
      return [id, work, runLabel(run), startedAt, finishedAt, tries, names];
    });
    const header = ['run', 'command', 'state', 'started (UTC)', 'finished (UTC)', 'tries', 'kinds'];
    return [documentOf(runList, { runs }), [textTable(header, rows)]];
  });
  const show = createCommand('show', 'show one run, kind by kind');
  show.argument('<id>', 'the number of the run', parseWholeNumber);
  readingCommand(context, show, async ({ session }, id: number) => {
    const run = await findRun(session, id);
    const hint = 'bms-sync runs lists the stored runs.';
    if (run === null) throw new SyncError(`Run ${id} does not exist.`, { code: 'run.absent', hint });
    const tries = await readTries(session, run);
    return [documentOf(shownRun, { ...run, tries }), runTexts(run, tries)];
  });
  return createCommand('runs').addCommand(list, { isDefault: true }).addCommand(show);
}

const COUNTS = [...ROW_COUNTS, 'requests', 'retries'] as const;

const LONGEST_WORK = 40;

const workOf = ({ command, extent }: Run): string => (extent === null ? command : `${command} ${extent}`);

function* runTexts(
  run: Run & { readonly reports: readonly KindReport[] },
  tries: readonly Run[],
): Iterable<Printed> {
  const { id, startedAt, finishedAt, reason, reports } = run;
  yield `Run ${id}: ${workOf(run)}, ${runLabel(run)}, from ${utc(startedAt ?? '-')} to ${utc(finishedAt ?? '-')}`;
  const [first] = tries;
  if (first !== undefined && first.id !== id) yield `It repeats run ${first.id}.`;
  if (tries.length > 1)
    yield `Tries: ${tries.map((each) => `run ${each.id} (${runLabel(each)})`).join(', ')}.`;
  if (reason !== null) yield reason;
  const rows = reports.map((kind) => {
    const counts = COUNTS.map((name) => kind[name]);
    return [kind.kind, reportLabel(run, kind), ...counts, kind.durationMs];
  });
  yield textTable(['kind', 'state', ...COUNTS, 'ms'], rows);
  const detailed = reports.filter((report) => report.detail !== null);
  const byCause = Map.groupBy(detailed, ({ kind, reason }) => (isServiceWide(reason) ? reason : kind));
  for (const [{ kind, detail } = { kind: '', detail: '' }, ...more] of byCause.values())
    yield `${kind}${more.length === 0 ? '' : ` and ${more.length} more`}: ${detail ?? ''}`;
}
