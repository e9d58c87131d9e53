import type { Command } from 'commander';
import { openConfiguredSource } from '../app/open-source.ts';
import { schedulesOf } from '../app/schedules.ts';
import { checkAll } from '../checks/doctor.ts';
import { listConfigFiles } from '../config/environment.ts';
import { createOwner } from '../lib/owner.ts';
import { systemClock } from '../lib/time/clock.ts';
import { openSession } from '../db/open-session.ts';
import { createCommand, EXIT, type CommonOptions, type CommandContext } from './parts/command.ts';

export function doctorCommand(context: CommandContext): Command {
  return createCommand('doctor', 'check everything that a pull needs')
    .argument('[URL]', 'check another service than the one in the settings: can it be mirrored?')
    .action(async (url: string | undefined, options: CommonOptions) => {
      const config = context.settings(options, url === undefined ? {} : { source: { baseUrl: url } });
      const logger = context.logger(config);
      const open = {
        mirror: () => openSession(config.database.url), // As it is: nothing is migrated.
        source: () => openConfiguredSource(config, { clock: systemClock, logger }),
      };
      const { isDead } = createOwner();
      const outlook = { schedules: schedulesOf(config), now: systemClock.now(), isDead };
      const checks = await checkAll(config, listConfigFiles(context.io.env, options.config), open, outlook);
      const ok = checks.every((check) => check.ok);
      const lines = checks.flatMap((check) => {
        const line = `${check.ok ? 'ok ' : 'BAD'}  ${check.name}: ${check.detail}`;
        return check.hint === null ? [line] : [line, `     ${check.hint}`];
      });
      context.printResult(options, { ok, checks }, lines);
      const isUnset = checks.some((check) => check.code?.startsWith('settings.') === true);
      context.exit(ok ? EXIT.done : isUnset ? EXIT.usage : EXIT.failed);
    });
}
