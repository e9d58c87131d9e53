import type { Command } from 'commander';
import { migrateMirror } from '../app/open-mirror.ts';
import { createCommand, settingsOf } from './command.ts';
import type { CommonOptions, CommandContext } from './command.ts';
import type { Config } from '../config/settings.ts';
import { printJson, printLine } from './print/io.ts';
import { createProgress } from './print/progress.ts';

export function migrateCommand(context: CommandContext): Command {
  return createCommand('migrate', 'bring the mirror to the shape of this release').action(
    async (options: CommonOptions) => {
      const migration = await migrateShowing(context, settingsOf(context, options));
      if (options.json) printJson(context.io.stdout, migration);
      else
        printLine(
          context.io.stdout,
          `${migration.database} ${migration.migrated ? 'was migrated.' : 'is up to date.'}`,
        );
    },
  );
}

/** Shows how many rows of a kind have been decoded again. */
async function migrateShowing({ io }: CommandContext, config: Config): ReturnType<typeof migrateMirror> {
  const { onProgress, stop } = createProgress(io);
  try {
    return await migrateMirror(config, (refilled) => {
      onProgress({ ...refilled, pages: 0, lastPage: null });
    });
  } finally {
    stop();
  }
}
