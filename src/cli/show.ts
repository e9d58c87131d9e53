import type { Command } from 'commander';
import { describeKinds, recordStory } from '../app/commands/show.ts';
import { createCommand, settingsOf } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { printExactJson, printJson, printLine } from './parts/io.ts';
import { printKind, printKinds } from './parts/kinds-print.ts';
import { printStory, storyDocument } from './parts/record-print.ts';

export function kindsCommand(context: CommandContext): Command {
  return createCommand('kinds', 'show what can be read and written, field by field')
    .argument('[kind]', 'record kind')
    .action((kind: string | undefined, options: CommonOptions) => showKinds(context, kind, options));
}

async function showKinds(
  context: CommandContext,
  name: string | undefined,
  options: CommonOptions,
): Promise<void> {
  const { stdout, stderr } = context.io;
  const described = await describeKinds(settingsOf(context, options), name);
  const { kinds, mirror, reason } = described;
  if (reason !== null) printLine(stderr, `Fields that only the mirror knows are left out: ${reason}`);
  const [kind] = kinds;
  if (options.json) printJson(stdout, name === undefined || !kind ? { kinds, mirror } : { ...kind, mirror });
  else if (name === undefined || !kind) printKinds(stdout, kinds);
  else printKind(stdout, kind, mirror);
}

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
