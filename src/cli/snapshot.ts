import type { Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { allKinds } from '../config/known-kinds.ts';
import { snapshotFile } from '../report/output-file.ts';
import { takeSnapshot } from '../report/export/snapshot.ts';
import { answer, createCommand, settingsOf } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';

export function snapshotCommand(context: CommandContext): Command {
  return createCommand('snapshot', 'write a SQLite file with the content of the views, for reporting tools')
    .argument('<file>', 'the file; a former snapshot there is replaced at once')
    .action(async (file: string, options: CommonOptions) => {
      const config = settingsOf(context, options);
      const { url } = config.database;
      const path = snapshotFile(url, file);
      await using session = await openExistingMirror(config);
      const report = await takeSnapshot(session, url, allKinds(config), path);
      const { tables, rows, bytes } = report;
      answer(context, options, report, [`${report.file}: ${tables} tables, ${rows} rows, ${bytes} bytes.`]);
    });
}
