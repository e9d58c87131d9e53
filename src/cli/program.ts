import { Command, CommanderError, Help } from 'commander';
import * as features from '../features.ts';
import { packageVersion } from '../lib/package-folder.ts';
import { StoppedError, SyncError, UsageError, wordSystemFault } from '../lib/sync-error.ts';
import { maskSecrets } from '../lib/text/mask-secrets.ts';
import { didYouMean } from '../lib/text/nearest-name.ts';
import { sanitizeLine } from '../lib/text/text.ts';
import { EXIT, createContext, exitCodeOfError, type CommandContext, type ExitCode } from './parts/command.ts';
import { printJson, printLine, type Io, type Output } from './parts/io.ts';
import { SUMMARIES, type CommandName } from './parts/summaries.ts';

/** Every command of the core by its name. Only the one that is called is loaded. */
const COMMANDS: typeof features.COMMANDS = {
  ...features.COMMANDS,
  demo: async () => (await import('./demo/demo.ts')).demoCommand,
  pull: async () => (await import('./pull.ts')).pullCommand,
  backfill: async () => (await import('./backfill.ts')).backfillCommand,
  status: async () => (await import('./status.ts')).statusCommand,
  runs: async () => (await import('./runs.ts')).runsCommand,
  deletions: async () => (await import('./decisions/deletions.ts')).deletionsCommand,
  changes: async () => (await import('./changes.ts')).changesCommand,
  record: async () => (await import('./record.ts')).recordCommand,
  kinds: async () => (await import('./kinds.ts')).kindsCommand,
  backup: async () => (await import('./backup.ts')).backupCommand,
  forget: async () => (await import('./forget.ts')).forgetCommand,
  push: async () => (await import('./push.ts')).pushCommand,
  outbox: async () => (await import('./decisions/outbox.ts')).outboxCommand,
  webhooks: async () => (await import('./decisions/webhooks.ts')).webhooksCommand,
  users: async () => (await import('./decisions/users.ts')).usersCommand,
  migrate: async () => (await import('./migrate.ts')).migrateCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  serve: async () => (await import('./serve.ts')).serveCommand,
  sandbox: async () => (await import('./sandbox.ts')).sandboxCommand,
};

/** Runs one command line and returns its exit code; nothing is thrown. */
export async function runCommandLine(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  let mask = maskSecrets([]);
  const exit = (code: ExitCode): void => void (exitCode = code);
  const context = createContext(io, exit, (secrets) => void (mask = maskSecrets(secrets)));
  try {
    const program = new Command('bms-sync')
      .description('Mirrors a business-management service into SQL, exactly.')
      .version(packageVersion(), '--version');
    const called = argv.find((word) => Object.hasOwn(COMMANDS, word));
    for (const [name, [summary, ...args]] of Object.entries(SUMMARIES)) {
      if (!Object.hasOwn(COMMANDS, name)) continue;
      const load = name === called ? COMMANDS[name as CommandName] : undefined;
      const listed = new Command(name).description(summary).option('--json');
      for (const arg of args) listed.argument(arg);
      program.addCommand(load === undefined ? listed : (await load())(context));
    }
    applyOutput(program, context);
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (thrown) {
    const error = wordSystemFault(thrown);
    if (error instanceof StoppedError) {
      printLine(io.stderr, error.message);
      return EXIT.incomplete;
    }
    const output = argv.includes('--json') ? io.stdout : null;
    if (!(error instanceof CommanderError)) {
      printError(error, io, mask, output);
      return exitCodeOfError(error);
    }
    if (error.exitCode === 0) return EXIT.done;
    // Commander has already printed its message for a person.
    if (output !== null) printJson(output, { error: { code: 'usage', message: error.message, hint: '' } });
    return EXIT.usage;
  }
}

/**
 * Commander asks each command, not the program, where to write and whether to end the process. The help of a command that lists
 * by default shows the options of its list.
 */
function applyOutput(command: Command, context: CommandContext): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => context.io.stdout.write(text),
    writeErr: (text) => {
      const lines = text.replace(/^error:/, 'Error:').split('\n');
      context.io.stderr.write(lines.map(indentFurtherLine).map(sanitizeLine).join('\n'));
    },
  });
  const list = command.commands.find((inner) => inner.name() === 'list');
  if (list !== undefined) {
    command.configureHelp({ visibleOptions: () => new Help().visibleOptions(list) });
    list.allowExcessArguments().hook('preAction', () => {
      refuseUnknown(list.args, command);
    });
  }
  for (const inner of command.commands) applyOutput(inner, context);
  command.showHelpAfterError(`Run ${pathOf(command)} --help to see its options.`);
}

/** A command that lists by default takes any other word for an argument of its list. */
function refuseUnknown([word]: readonly string[], command: Command): void {
  if (word === undefined) return;
  const names = command.commands.map((inner) => inner.name());
  throw new UsageError(`unknown command '${word}'${didYouMean(word, names)}`, {
    code: 'usage',
    hint: `${pathOf(command)} has: ${names.join(', ')}.`,
  });
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function printError(error: unknown, io: Io, mask: (text: string) => string, output: Output | null): void {
  const bug = {
    code: 'internal',
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    hint: 'This is a bug in bms-sync: please report it with the text above.',
  };
  const { code, message, hint = '' } = error instanceof SyncError ? error : bug;
  const fault = { code, message: mask(message), hint: mask(hint) };
  const text = /^\w*Error: /.test(fault.message) ? fault.message : `Error: ${fault.message}`;
  printLine(io.stderr, text.split('\n').map(indentFurtherLine));
  if (fault.hint !== '') printLine(io.stderr, fault.hint);
  if (output !== null) printJson(output, { error: fault });
}

/** Indents further lines, so that quoted text never looks like our own line. */
function indentFurtherLine(line: string, index: number): string {
  return index === 0 || line === '' || line.startsWith('  ') ? line : `  ${line}`;
}
