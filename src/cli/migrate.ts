import type { Command } from 'commander';
import { migrateMirror } from '../app/open-mirror.ts';
import { createCommand, settingsOf } from './command.ts';
import type { CommonOptions, CommandContext } from './command.ts';
import { printJson, printLine } from './print/io.ts';
import { showingProgress } from './print/progress.ts';

export function migrateCommand(context: CommandContext): Command {
  return createCommand('migrate', 'bring the mirror to the shape of this release').action(
    async (options: CommonOptions) => {
      const config = settingsOf(context, options);
      // Shows how many rows of a kind have been decoded again.
      const migration = await showingProgress(context.io, {}, ({ onProgress }) =>
        migrateMirror(config, (refilled) => {
          onProgress({ ...refilled, pages: 0, lastPage: null });
        }),
      );
      if (options.json) printJson(context.io.stdout, migration);
      else
        printLine(
          context.io.stdout,
          `${migration.database} ${migration.migrated ? 'was migrated.' : 'is up to date.'}`,
        );
    },
  );
}
