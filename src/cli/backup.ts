import type { Command } from 'commander';
import { backUp } from '../app/back-up.ts';
import { createCommand, type CommandContext, type CommonOptions } from './parts/command.ts';

export function backupCommand(context: CommandContext): Command {
  return createCommand('backup')
    .argument('<file>', 'a new file')
    .action(async (file: string, options: CommonOptions) => {
      const report = await backUp(await context.keptSettings(options), file);
      const size = `${(report.bytes / 1e6).toFixed(1)} MB`;
      context.printResult(options, report, [
        `${report.file}: ${size}, checked. Sends pause where it is served.`,
      ]);
    });
}
