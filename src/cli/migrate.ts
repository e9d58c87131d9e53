import type { Command } from 'commander';
import { migrateMirror, type Migration } from '../app/open-mirror.ts';
import { createCommand, EXIT, type CommonOptions, type CommandContext } from './parts/command.ts';
import { showingProgress } from './parts/progress.ts';

export function migrateCommand(context: CommandContext): Command {
  return createCommand('migrate').action(async (options: CommonOptions) => {
    const config = context.settings(options);
    // Shows how many rows of a kind have been decoded again.
    const migration = await showingProgress(context.io, {}, (display) =>
      migrateMirror(config, (refilled) => {
        display.onProgress({ ...refilled, pages: 0, lastPage: null });
      }),
    );
    context.printResult(options, migration, linesOf(migration));
    if (migration.excluded?.scrubbed === false) context.exit(EXIT.incomplete);
  });
}

function* linesOf(migration: Migration): Iterable<string> {
  yield `${migration.database} ${migration.migrated ? 'was migrated.' : 'is up to date.'}`;
  if (migration.excluded !== undefined) yield 'The fields in privacy.exclude were removed from it.';
  if (migration.excluded?.scrubbed === false)
    yield 'Another process used the file, so its free space still has their values. Run this again.';
}
