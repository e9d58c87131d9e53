import type { Command } from 'commander';
import { openExistingMirror } from '../../app/open-mirror.ts';
import { pullSettings } from '../../app/pull.ts';
import { requireListedKinds } from '../../config/known-kinds.ts';
import { countsOf, verifyKinds, type VerifyReport } from './verify-kinds.ts';
import {
  createCommand,
  EXIT,
  type CommonOptions,
  type CommandContext,
  type ExitCode,
} from '../../cli/parts/command.ts';
import { textTable, type Printed } from '../../cli/parts/io.ts';
import { readingService } from '../../cli/parts/progress.ts';

const DIFFERENCES_SHOWN = 20;

export function verifyCommand(context: CommandContext): Command {
  return createCommand('verify')
    .argument('[kind...]', 'record kinds (default: all)')
    .action(async (kinds: string[], options: CommonOptions) => {
      const config = await context.keptSettings(options);
      const wanted = requireListedKinds(config, kinds);
      const reading = { of: wanted.length, open: openExistingMirror };
      const report = await readingService(context, config, reading, (parts) =>
        verifyKinds(parts, wanted, pullSettings(config)),
      );
      context.printResult(options, report, reportTexts(report));
      context.exit(exitCodeOf(report));
    });
}

/** A verification that compared nothing has failed; one that found a difference, or did not compare everything, is incomplete. */
function exitCodeOf(report: VerifyReport): ExitCode {
  if (report.kinds.every((kind) => kind.reason === null && kind.differs === 0)) return EXIT.done;
  const hasFailed = report.kinds.every(({ reason, same, moved, differs, quarantined }) => {
    return reason !== null && reason !== 'interrupted' && same + moved + differs + quarantined === 0;
  });
  return hasFailed ? EXIT.failed : EXIT.incomplete;
}

/** One line per kind, the first differences, and advice. */
function* reportTexts(report: VerifyReport): Iterable<Printed> {
  const { runId, durationMs, kinds } = report;
  const rows = kinds.map((kind) => [kind.kind, ...Object.values(countsOf(kind)), kind.reason]);
  yield textTable(['kind', 'same', 'moved', 'unlisted', 'differs', 'quarantined', 'not compared'], rows);
  yield `\nRun ${runId} took ${(durationMs / 1000).toFixed(1)} s.`;
  for (const { kind, detail } of kinds) if (detail !== null) yield `${kind}: ${detail}`;
  const wrong = kinds.filter((kind) => kind.differs > 0);
  if (wrong.length === 0) return;
  const all = wrong.flatMap(({ kind, differences }) =>
    differences.map(({ id, field, service, mirror }) => [kind, id, field, quoted(service), quoted(mirror)]),
  );
  const shown = all.slice(0, DIFFERENCES_SHOWN);
  yield '\nWhere the mirror is wrong:';
  yield textTable(['kind', 'id', 'field', 'service', 'mirror'], shown);
  if (all.length > shown.length) yield 'Use --json for up to 100 per kind.';
  yield '\nTo read these records again:';
  for (const { repair } of wrong) yield `  ${repair ?? ''}`;
}

/** Quotes a value, so that spaces and line ends at either side are visible; nothing if there is no value. */
const quoted = (value: string | null): string => (value === null ? '' : JSON.stringify(value));
