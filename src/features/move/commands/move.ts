import type { Command } from 'commander';
import { cancelMove, moveMirror, type MoveReport } from './move-mirror.ts';
import { StoppedError, UsageError } from '../../../lib/sync-error.ts';
import { leftFileAdvice } from '../move-mark.ts';
import { createCommand, type CommandContext, type CommonOptions } from '../../../cli/parts/command.ts';
import { commandLineDecider } from '../../../cli/parts/operation-command.ts';
import { showingProgress } from '../../../cli/parts/progress.ts';

export function moveCommand(context: CommandContext): Command {
  return createCommand('move')
    .argument('[url]', 'the new database: postgres://USER:PASSWORD@HOST:5432/DATABASE')
    .option('--cancel', 'give up an unfinished move, and use the file again')
    .action((url: string | undefined, options: CommonOptions & { cancel?: true }) =>
      options.cancel ? cancel(context, options) : move(context, options, url),
    );
}

async function move(context: CommandContext, options: CommonOptions, url = ''): Promise<void> {
  const config = context.settings(options);
  if (!/^postgres(?:ql)?:\/\//.test(url))
    throw new UsageError('bms-sync move needs the address of a PostgreSQL database.', {
      code: 'usage.move',
      hint: 'Write bms-sync move postgres://USER:PASSWORD@HOST:5432/DATABASE, or bms-sync move --cancel.',
    });
  const target = context.settings(options, { database: { url } });
  const { signal } = context.io;
  try {
    const report = await showingProgress(context.io, {}, async (display) =>
      moveMirror(config, target, {
        logger: await context.logger(config, display.stderr),
        by: commandLineDecider(),
        signal,
        onRows: (kind, rows) => {
          display.onProgress({ kind, rows, pages: 0, lastPage: null });
        },
      }),
    );
    context.printResult(options, report, reportLines(report));
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    throw new StoppedError('Stopped. Run the same command again to go on, or bms-sync move --cancel.');
  }
}

function* reportLines({ from, to, rows }: MoveReport): Iterable<string> {
  yield rows === 0 ? `${from} has moved to ${to}.` : `${from} has moved to ${to}: ${rows} rows, compared.`;
  yield leftFileAdvice(from);
}

async function cancel(context: CommandContext, options: CommonOptions): Promise<void> {
  const to = await cancelMove(context.settings(options));
  const line =
    to === null
      ? 'No move is under way.'
      : `The move is given up; this file is used again. Drop the database ${to}: it holds a part of the copy.`;
  context.printResult(options, { cancelled: to !== null, to }, [line]);
}
