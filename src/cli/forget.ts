import type { Command } from 'commander';
import { forget, planForgetting } from '../app/commands/forget.ts';
import type { ForgetPlan, ForgetReport, ForgetRequest } from '../app/commands/forget.ts';
import { UsageError } from '../lib/sync-error.ts';
import { createCommand, settingsOf, EXIT } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { printJson, printLine } from './parts/io.ts';
import type { Io } from './parts/io.ts';

interface ForgetOptions extends CommonOptions {
  readonly suppress?: true;
  readonly yes?: true;
}

export function forgetCommand(context: CommandContext): Command {
  return createCommand('forget', "remove a record's content from the mirror for good; a tombstone stays")
    .argument('<kind>', 'record kind')
    .argument('<id>', 'id of the record')
    .option('--suppress', 'although the service still lists it; keeps it out from now on')
    .option('--yes', 'do not ask; needed where no terminal can be asked')
    .action((kind: string, id: string, options: ForgetOptions) =>
      runForget(context, { kind, id, suppress: options.suppress ?? false }, options),
    );
}

async function runForget(
  context: CommandContext,
  request: ForgetRequest,
  options: ForgetOptions,
): Promise<void> {
  const { io } = context;
  const config = settingsOf(context, options);
  const plan = await planForgetting(config, request);
  if (!options.yes) await askAgain(io, request, plan);
  const report = await forget(config, request);
  if (options.json) printJson(io.stdout, report);
  else printReport(io, report);
  if (report.scrubbed === false || report.snapshot?.rewritten === false) context.exit(EXIT.incomplete);
}

/** @throws {UsageError} Where there is no terminal to ask at, or the answer is not the id. */
async function askAgain(io: Io, { kind, id }: ForgetRequest, plan: ForgetPlan): Promise<void> {
  const refuse = (message: string): UsageError =>
    new UsageError(message, { code: 'usage.forget', hint: 'Nothing was forgotten.' });
  if (io.stdin.isTTY !== true) throw refuse('Without a terminal, forget asks nobody: it needs --yes.');
  const { standing, events, issues, entries } = plan;
  const row = standing === 'absent' ? 'no row' : `a ${standing} row`;
  printLine(io.stderr, [
    `${kind} ${id}: ${row}, ${events} events, ${issues} issues, ${entries} entries of the outbox.`,
    'Their content is removed for good; the service is not changed. Back-ups and exports still have it.',
  ]);
  io.stderr.write(`Type the id again to forget the record: `);
  if ((await firstLine(io)) !== id) throw refuse('That is not its id.');
}

async function firstLine({ stdin }: Io): Promise<string> {
  let typed = '';
  for await (const some of stdin) {
    typed += typeof some === 'string' ? some : new TextDecoder().decode(some);
    if (typed.includes('\n')) break;
  }
  return (typed.split('\n')[0] ?? '').trim();
}

function printReport(
  { stdout }: Io,
  { kind, id, suppressed, erased, scrubbed, snapshot }: ForgetReport,
): void {
  const { row, ...traces } = erased;
  const counts = Object.entries(traces).map(([name, count]) => `${count} ${name}`);
  const kept = suppressed ? ' It is kept out from now on.' : '';
  printLine(
    stdout,
    `${kind} ${id} is forgotten: ${row ? 'its row' : 'no row'}, ${counts.join(', ')}.${kept}`,
  );
  if (scrubbed === false)
    printLine(
      stdout,
      'Another process kept the file busy: its free space still has the content. Run this again.',
    );
  if (snapshot !== null)
    printLine(
      stdout,
      snapshot.rewritten
        ? `The snapshot ${snapshot.file} was rewritten.`
        : `The snapshot ${snapshot.file} still has it.`,
    );
  printLine(
    stdout,
    'Back-ups, exports and other snapshots still have it, and so have receivers of its events.',
  );
}
