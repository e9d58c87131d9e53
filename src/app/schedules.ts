import { requireListedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { findUnscheduled, type Schedule } from '../runs/schedule.ts';

type ScheduleSetting = Exclude<Config['schedules'][string], null>;

/** The schedules that are in force; `schedules.all` is for the kinds that no other one names. */
export function schedulesOf(config: Config): readonly Schedule[] {
  const { timezone, all, ...named } = config.schedules;
  const create = (name: string, setting: ScheduleSetting | null): readonly Schedule[] => {
    if (setting === null) return [];
    const cron = typeof setting === 'string' ? setting : setting.cron;
    const kinds = requireListedKinds(config, kindsOf(name, setting)).map((kind) => kind.name);
    return [{ name, cron, timezone, kinds }];
  };
  const others = Object.entries(named).flatMap(([name, setting]) => create(name, setting));
  const rest = create('all', all).map((schedule) => ({
    ...schedule,
    kinds: findUnscheduled(others, schedule.kinds),
  }));
  return [...others, ...rest.filter((schedule) => schedule.kinds.length > 0)];
}

/** The kinds that a schedule names; none means all that have a list. */
function kindsOf(name: string, setting: ScheduleSetting): readonly string[] {
  if (typeof setting === 'string') return name === 'all' ? [] : [name];
  if ('kind' in setting) return [setting.kind];
  return setting.kinds === 'all' ? [] : setting.kinds;
}
