import type { Command } from 'commander';
import { ROLES, serve, type Role } from '../app/serve.ts';
import { UsageError } from '../lib/sync-error.ts';
import { didYouMean } from '../lib/text/nearest-name.ts';
import { EXIT, createCommand, type CommonOptions, type CommandContext } from './parts/command.ts';

export function serveCommand(context: CommandContext): Command {
  return createCommand('serve')
    .option('--only <roles>', `only some of the work: ${ROLES.join(', ')}`)
    .action(async (options: CommonOptions & { only?: string }) => {
      const roles = rolesOf(options.only);
      const config = context.settings(options);
      const { signal, stderr } = context.io;
      context.io.setGrace?.(config.shutdown.graceSeconds, EXIT.done); // Work that is cut off is in the journal.
      const logger = await context.logger(config);
      await serve(config, { roles, logger, logFault: stderr.fault, signal });
    });
}

/** @throws {UsageError} For an unknown role. */
function rolesOf(only: string | undefined): readonly Role[] {
  if (only === undefined) return ROLES;
  const names = only.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !ROLES.some((role) => role === name));
  if (unknown.length === 0) return ROLES.filter((role) => names.includes(role));
  const message = `Unknown role "${unknown.join('", "')}"${didYouMean(unknown[0] ?? '', ROLES) || '.'}`;
  throw new UsageError(message, { code: 'usage.role', hint: `The roles are: ${ROLES.join(', ')}.` });
}
