import { requireListedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import type { Schedule } from '../runs/schedule.ts';

type ScheduleSetting = Exclude<Config['schedules'][string], null>;

/** The schedules that are in force: `schedules.all` only where no other one is set. */
export function schedulesOf(config: Config): readonly Schedule[] {
  const { timezone, all } = config.schedules;
  const set = Object.entries(config.schedules).flatMap(([name, setting]) =>
    ['timezone', 'all'].includes(name) || setting === null ? [] : [{ name, setting }],
  );
  const inForce = set.length > 0 || all === null ? set : [{ name: 'all', setting: all }];
  return inForce.map((one) => {
    const { name, setting } = one;
    const cron = typeof setting === 'string' ? setting : setting.cron;
    const kinds = requireListedKinds(config, kindsOf(name, setting)).map((kind) => kind.name);
    return { name, cron, timezone, kinds };
  });
}

/** The kinds that a schedule names; none means all that have a list. */
function kindsOf(name: string, setting: ScheduleSetting): readonly string[] {
  if (typeof setting === 'string') return name === 'all' ? [] : [name];
  if ('kind' in setting) return [setting.kind];
  return setting.kinds === 'all' ? [] : setting.kinds;
}
