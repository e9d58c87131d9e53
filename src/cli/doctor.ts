import type { Command } from 'commander';
import { admit, withKeptSettings } from '../app/open-mirror.ts';
import { openConfiguredSource } from '../app/open-source.ts';
import { schedulesOf } from '../app/schedules.ts';
import { checkAll } from '../checks/doctor.ts';
import { passedCheck, type CheckResult } from '../lib/check-result.ts';
import { discoverKinds, discoveryLines, type DiscoveredKind } from '../checks/discover.ts';
import * as features from '../features.ts';
import { listConfigFiles } from '../config/environment.ts';
import type { Config } from '../config/settings.ts';
import { systemClock } from '../lib/time/clock.ts';
import { openSession } from '../db/open-session.ts';
import type { Source } from '../source/source.ts';
import { createCommand, EXIT, type CommonOptions, type CommandContext } from './parts/command.ts';

export function doctorCommand(context: CommandContext): Command {
  return createCommand('doctor')
    .argument('[URL]', 'check this service instead of the one in the settings')
    .option('--discover', 'also look for lists that the service does not document')
    .action(async (url: string | undefined, options: CommonOptions & { discover?: true }) => {
      const differing: CheckResult[] = [];
      const own = context.settings(options, url === undefined ? {} : { source: { baseUrl: url } });
      const config = await withKeptSettings(own, (hint) => {
        differing.push({ ...passedCheck('settings', 'some differ from those that the mirror keeps'), hint });
      });
      const logger = await context.logger(config);
      const open = {
        mirror: () => openSession(config.database.url), // As it is: nothing is migrated.
        admit,
        source: () => openConfiguredSource(config, { clock: systemClock, logger }),
      };
      const more = await features.loadAll(features.CHECKS);
      const outlook = { schedules: schedulesOf(config), now: systemClock.now(), more };
      const files = listConfigFiles(context.io.env, options.config);
      const checks = [...differing, ...(await checkAll(config, files, open, outlook))];
      const ok = checks.every((check) => check.ok !== false);
      const discovered = options.discover && isServiceSet(config) ? await discover(open.source) : undefined;
      const lines = checks.flatMap((check) => {
        const passed = check.hint === null ? 'ok ' : '!  '; // A hint of a passed check is advice.
        const line = `${check.ok === null ? '?  ' : check.ok ? passed : 'BAD'}  ${check.name}: ${check.detail}`;
        return check.hint === null ? [line] : [line, `     ${check.hint}`];
      });
      const discoveredLines = discovered === undefined ? [] : ['', ...discoveryLines(discovered)];
      const next = `\nNext: ${ok ? 'bms-sync pull reads the lists, bms-sync serve keeps the mirror up to date.' : 'correct what is BAD, then run bms-sync doctor again.'}`;
      context.printResult(options, { ok, checks, discovered }, [...lines, ...discoveredLines, next]);
      const isUnset = checks.some((check) => check.code?.startsWith('settings.') === true);
      context.exit(ok ? EXIT.done : isUnset ? EXIT.usage : EXIT.failed);
    });
}

const isServiceSet = (config: Config): boolean =>
  config.source.baseUrl !== null && config.source.token !== null;

async function discover(openSource: () => Source): Promise<readonly DiscoveredKind[]> {
  await using source = openSource();
  return await discoverKinds(source);
}
