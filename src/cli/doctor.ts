import type { Command } from 'commander';
import { examine } from '../app/doctor.ts';
import { createCommand, loggerOf, settingsOf } from './command.ts';
import type { CommonOptions, Context } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { printJson, printLine } from './io.ts';
import { textTable } from './text-table.ts';

export function doctorCommand(context: Context): Command {
  return createCommand('doctor', 'look at everything that a pull needs').action(
    async (options: CommonOptions) => {
      const config = settingsOf(context, options);
      const checks = await examine(config, loggerOf(context, config));
      const ok = checks.every((check) => check.ok);
      if (options.json) printJson(context.io.stdout, { ok, checks });
      else
        printLine(
          context.io.stdout,
          textTable(
            ['check', '', 'found'],
            checks.map((check) => [check.name, check.ok ? 'ok' : 'BAD', check.detail]),
          ),
        );
      context.exit(ok ? EXIT.done : EXIT.failed);
    },
  );
}
