import type { Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { requireKnownKind } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { changeLine, followChanges } from '../feed/follow-changes.ts';
import { streamChanges, seqBeforeLatest, type RecordedChange } from '../feed/read-changes.ts';
import { latestSeq } from '../store/records/change-store.ts';
import { sanitizeJson, sanitizeLine } from '../lib/text/text.ts';
import { systemClock } from '../lib/time/clock.ts';
import { CHANGE_HEADER, changeRow } from './parts/change-row.ts';
import { EXIT, createCommand, type CommonOptions, type CommandContext } from './parts/command.ts';
import { parseSeq, parseWholeNumber } from './parts/input.ts';

const SHOWN = 50;

interface ChangesOptions extends CommonOptions {
  readonly after?: number;
  readonly kind?: string;
  readonly limit?: number;
  readonly follow?: true;
}

export function changesCommand(context: CommandContext): Command {
  return createCommand('changes')
    .option('--after <seq>', 'only events after this one (default: the latest; with --json, all)', parseSeq)
    .option('--kind <kind>', 'only events of this record kind')
    .option(
      '--limit <n>',
      `maximum number (default: ${SHOWN}; with --json or --follow, all)`,
      parseWholeNumber,
    )
    .option('--follow', 'wait for further events until Ctrl-C; without --after, show only these')
    .action(async (options: ChangesOptions) => {
      const { io } = context;
      const gone = new AbortController(); // The reader of stdout: `bms-sync changes --follow | head`.
      const print = (line: string): void => {
        io.stdout.write(`${line}\n`, (error) => {
          if (error) gone.abort();
        });
      };
      const signal = AbortSignal.any([io.signal, gone.signal]);
      const config = context.settings(options);
      if (options.kind !== undefined) requireKnownKind(config, options.kind); // Refuses an unknown one.
      let isEmpty = true;
      for await (const change of changes(config, options, signal)) {
        if (isEmpty && !options.json) CHANGE_HEADER.forEach(print);
        isEmpty = false;
        print(options.json ? sanitizeJson(changeLine(change)) : sanitizeLine(changeRow(change)));
      }
      if (isEmpty && !options.json && !options.follow) print('No change events.');
      if (io.signal.aborted && !options.follow) context.exit(EXIT.incomplete);
    });
}

/**
 * Yields change events in order; ends when the signal is aborted. A person gets the latest events; a program continues where it
 * stopped and must not miss any.
 */
async function* changes(
  config: Config,
  options: ChangesOptions,
  signal: AbortSignal,
): AsyncGenerator<RecordedChange> {
  const { json, after, kind, limit, follow } = options;
  await using session = await openExistingMirror(config);
  const isProgram = json && !follow;
  let remaining = limit ?? (follow || json ? Infinity : SHOWN);
  if (remaining === 0) return;
  const from = after ?? (isProgram ? 0 : await seqBeforeLatest(session, kind, follow ? 0 : remaining));
  const events = follow
    ? followChanges(session, { after: from, kind }, systemClock, signal)
    : streamChanges(session, { after: from, upTo: await latestSeq(session), kind }, signal);
  for await (const event of events) {
    yield event;
    if (--remaining === 0) return;
  }
}
