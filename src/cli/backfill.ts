import type { Command } from 'commander';
import { openMirror } from '../app/open-mirror.ts';
import { pullSettings } from '../app/pull.ts';
import { requireKnownKind } from '../config/known-kinds.ts';
import { backfill, absentTexts, type BackfillReport } from '../pull/sweep/backfill.ts';
import { parseExtent, writeExtent } from '../runs/extent.ts';
import { createCommand, EXIT, type CommonOptions, type CommandContext } from './parts/command.ts';
import { readingService } from './parts/progress.ts';

export function backfillCommand(context: CommandContext): Command {
  return createCommand('backfill')
    .argument('<kind>', 'record kind')
    .option('--ids <list>', 'these records, e.g. 1,5-9')
    .option('--pages <range>', 'these pages of the list, e.g. 1-20')
    .option('--all', 'the whole list, every page parsed')
    .action(async (name: string, options: CommonOptions & { ids?: string; pages?: string; all?: true }) => {
      const config = await context.keptSettings(options);
      const kind = requireKnownKind(config, name);
      const request = writeExtent(kind, options);
      const extent = parseExtent(request);
      const wanted = { kind, extent, request, ...pullSettings(config) };
      const report = await readingService(context, config, { open: openMirror }, (parts) =>
        backfill(parts, wanted),
      );
      context.printResult(options, report, reportLines(report));
      const { state, reason, rows, quarantined } = report;
      const hasFailed = state === 'aborted' && reason !== 'interrupted' && rows === 0; // As for a pull.
      const isBeyond = 'pages' in extent && extent.pages.from > 1 && rows + quarantined === 0; // The list ends before.
      context.exit(state === 'complete' && !isBeyond ? EXIT.done : hasFailed ? EXIT.failed : EXIT.incomplete);
    });
}

function* reportLines(report: BackfillReport): Iterable<string> {
  const { kind, rows, created, updated, restored, unchanged, quarantined, surplus, detail } = report;
  const counts = { created, updated, restored, unchanged, quarantined, surplus };
  const parts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  const filled =
    report.state === 'complete' && rows > 0
      ? ` All their columns were filled again. Repaired rows: ${report.repaired}.`
      : '';
  yield `${kind}: ${rows} ${rows === 1 ? 'record' : 'records'} read: ${parts.join(', ')}.${filled}`;
  yield* absentTexts(report);
  if (detail !== null && report.reason !== 'interrupted') yield detail;
  if (report.state !== 'complete')
    yield 'The records read so far are stored; the same command reads all of them again.';
}
