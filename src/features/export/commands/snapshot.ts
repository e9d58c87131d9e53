import { Option, type Command } from 'commander';
import { openExistingMirror } from '../../../app/open-mirror.ts';
import { allKinds } from '../../../config/known-kinds.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { snapshotFile } from '../../../db/output-file.ts';
import { takeSnapshot } from '../snapshot.ts';
import { createCommand, type CommonOptions, type CommandContext } from '../../../cli/parts/command.ts';
import { parseWholeNumber } from '../../../cli/parts/input.ts';
import { printLine, rowsAndSize } from '../../../cli/parts/io.ts';

export function snapshotCommand(context: CommandContext): Command {
  return createCommand('snapshot')
    .argument('<file>', 'the file; an existing snapshot is replaced')
    .option('--wait <seconds>', 'how long to wait for a running pull', parseWholeNumber, 60)
    .addOption(new Option('--now', 'do not wait; lists may be half read').conflicts('wait'))
    .action(async (file: string, options: CommonOptions & { wait: number; now?: true }) => {
      const { io } = context;
      const config = await context.keptSettings(options);
      const { url } = config.database;
      const path = snapshotFile(url, file);
      const mirror = await openExistingMirror(config); // Migrates it to this release.
      await mirror.close();
      const onWait = (kinds: readonly string[]): void => {
        printLine(
          io.stderr,
          `A pull is reading ${kinds.join(', ')}: waiting up to ${options.wait} s for its end.`,
        );
      };
      const waitMs = options.now ? null : options.wait * 1000;
      const timing = { waitMs, clock: systemClock, signal: io.signal, onWait };
      const report = await takeSnapshot({ url, kinds: allKinds(config), path, ...timing });
      const { tables, beingRead } = report;
      if (beingRead.length > 0)
        printLine(io.stderr, `Incomplete, because a pull is reading them: ${beingRead.join(', ')}.`);
      context.printResult(options, report, [`${report.file}: ${tables} tables, ${rowsAndSize(report)}.`]);
    });
}
