import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { changeLine, changes } from '../app/commands/changes.ts';
import type { ChangesRequest, RecordedChange } from '../app/commands/changes.ts';
import { plainJson, plainLine } from '../lib/text/text.ts';
import { CHANGE_HEADER, changeRow } from './parts/change-row.ts';
import { createCommand, settingsOf, wholeNumber, EXIT } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import type { Output } from './parts/io.ts';

/** The number of events for a person who gives none. */
const SHOWN = 50;

interface ChangesOptions extends CommonOptions {
  readonly after?: number;
  readonly kind?: string;
  readonly limit?: number;
  readonly follow?: true;
}

export function changesCommand(context: CommandContext): Command {
  return createCommand('changes', 'show what happened to the records; with --json, one object a line')
    .option('--after <seq>', 'only events after this one (default: the latest; with --json, all)', seqNumber)
    .option('--kind <kind>', 'only events of this record kind')
    .option('--limit <n>', `at most so many (default: ${SHOWN}; with --json or --follow, all)`, wholeNumber)
    .option('--follow', 'wait for further events until Ctrl-C; without --after, show only these')
    .action((options: ChangesOptions) => printChanges(context, options));
}

async function printChanges(context: CommandContext, options: ChangesOptions): Promise<void> {
  const { io } = context;
  const lines = createLines(io.stdout);
  const toLine = options.json ? jsonLine : personLine;
  let isEmpty = true;
  const signal = AbortSignal.any([io.signal, lines.broken]);
  for await (const change of changes(settingsOf(context, options), requestOf(options), signal)) {
    if (isEmpty && !options.json) CHANGE_HEADER.forEach(lines.print);
    isEmpty = false;
    lines.print(toLine(change));
  }
  if (isEmpty && !options.json && !options.follow) lines.print('No change events.');
  if (io.signal.aborted && !options.follow) context.exit(EXIT.incomplete);
}

/** A person gets the latest events; a program continues where it stopped and must not miss any. */
function requestOf({ json, after, kind, limit, follow }: ChangesOptions): ChangesRequest {
  const isFollowing = follow === true;
  const shown = limit ?? (isFollowing || json ? Infinity : SHOWN);
  const latest = isFollowing ? 0 : shown;
  const from = after === undefined && (isFollowing || !json) ? { latest } : { after: after ?? 0 };
  return { from, kind, limit: shown, isFollowing };
}

const jsonLine = (change: RecordedChange): string => plainJson(changeLine(change));
const personLine = (change: RecordedChange): string => plainLine(changeRow(change));

interface Lines {
  readonly print: (line: string) => void;
  /** Aborted once the reader of stdout has gone: `bms-sync changes --follow | head`. */
  readonly broken: AbortSignal;
}

function createLines(output: Output): Lines {
  const gone = new AbortController();
  const written = (error?: Error | null): void => {
    if (error) gone.abort();
  };
  return {
    print: (line) => {
      output.write(`${line}\n`, written);
    },
    broken: gone.signal,
  };
}

/** Parses a number of an event: larger than other numbers of the command line may be. */
export function seqNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected the number of an event (seq), or 0.');
}
