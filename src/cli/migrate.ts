import type { Command } from 'commander';
import { migrateMirror } from '../app/open-mirror.ts';
import { createCommand, settingsOf } from './command.ts';
import type { CommonOptions, CommandContext } from './command.ts';
import { printJson, printLine } from './print/io.ts';

export function migrateCommand(context: CommandContext): Command {
  return createCommand('migrate', 'bring the mirror to the shape of this release').action(
    async (options: CommonOptions) => {
      const migration = await migrateMirror(settingsOf(context, options));
      if (options.json) printJson(context.io.stdout, migration);
      else
        printLine(
          context.io.stdout,
          `${migration.database} ${migration.migrated ? 'was migrated.' : 'is up to date.'}`,
        );
    },
  );
}
