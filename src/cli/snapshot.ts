import type { Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { allKinds } from '../config/known-kinds.ts';
import { snapshotFile } from '../report/output-file.ts';
import { takeSnapshot } from '../report/export/snapshot.ts';
import { createCommand, settingsOf } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { printJson, printLine } from './parts/io.ts';

export function snapshotCommand(context: CommandContext): Command {
  return createCommand('snapshot', 'write a SQLite file with the content of the views, for reporting tools')
    .argument('<file>', 'the file; a former snapshot there is replaced at once')
    .action(async (file: string, options: CommonOptions) => {
      const config = settingsOf(context, options);
      const path = snapshotFile(config, file);
      await using session = await openExistingMirror(config);
      const { url } = config.database;
      const report = await takeSnapshot(session, { url, kinds: allKinds(config), path });
      const { stdout } = context.io;
      if (options.json) printJson(stdout, report);
      else
        printLine(
          stdout,
          `${report.file}: ${report.tables} tables, ${report.rows} rows, ${report.bytes} bytes.`,
        );
    });
}
