import type { Command } from 'commander';
import { recordStory } from '../app/record-story.ts';
import { createCommand, settingsOf } from './command.ts';
import type { CommonOptions, CommandContext } from './command.ts';
import { printExactJson } from './print/io.ts';
import { printStory, storyDocument } from './print/record-print.ts';

export function recordCommand(context: CommandContext): Command {
  return createCommand('record', "show one record's story: row, versions, issues, outbox entries, links")
    .argument('<kind>', 'record kind')
    .argument('<id>', 'id of the record')
    .action(async (kind: string, id: string, options: CommonOptions) => {
      const story = await recordStory(settingsOf(context, options), kind, id);
      if (options.json) printExactJson(context.io.stdout, storyDocument(story));
      else printStory(context.io.stdout, story);
    });
}
