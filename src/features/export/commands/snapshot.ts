import type { Command } from 'commander';
import { openExistingMirror } from '../../../app/open-mirror.ts';
import { allKinds } from '../../../config/known-kinds.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { snapshotFile } from '../../../db/output-file.ts';
import { takeSnapshot } from '../snapshot.ts';
import { createCommand, type CommonOptions, type CommandContext } from '../../../cli/parts/command.ts';
import { printLine, rowsAndSize } from '../../../cli/parts/io.ts';

/** Longer than a pull of a large list takes. */
const WAIT_SECONDS = 600;

export function snapshotCommand(context: CommandContext): Command {
  return createCommand('snapshot')
    .argument('<file>', 'the file; an existing snapshot is replaced')
    .action(async (file: string, options: CommonOptions) => {
      const { io } = context;
      const config = await context.keptSettings(options);
      const { url } = config.database;
      const path = snapshotFile(url, file);
      const mirror = await openExistingMirror(config); // Migrates it to this release.
      await mirror.close();
      const onWait = (reason: string): void => {
        printLine(io.stderr, `${reason} Waiting up to ${WAIT_SECONDS} s for its end.`);
      };
      const timing = { waitMs: WAIT_SECONDS * 1000, clock: systemClock, signal: io.signal, onWait };
      const report = await takeSnapshot({ url, kinds: allKinds(config), path, ...timing });
      context.printResult(options, report, [
        `${report.file}: ${report.tables} tables, ${rowsAndSize(report)}.`,
      ]);
    });
}
