import { listedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import type { Schedule } from '../jobs/schedule.ts';

/** All schedules in force: of pulls and of verifications. */
export const allSchedules = (config: Config): readonly Schedule[] => [
  ...schedulesOf(config),
  ...verifySchedule(config),
];

type ScheduleSetting = Exclude<Config['schedules'][string], null>;

/** The schedule of verifications of all kinds; empty if it is turned off. */
export function verifySchedule(config: Config): readonly Schedule[] {
  const { timezone, verify } = config.schedules;
  if (verify === null) return [];
  const kinds = namesOf(config, []);
  return [{ name: 'verify', cron: verify, timezone, kinds, pages: null, verifies: true }];
}

/** The pull schedules that are in force: `schedules.all` only where no other one is set. */
export function schedulesOf(config: Config): readonly Schedule[] {
  const { timezone, all } = config.schedules;
  const set = Object.entries(config.schedules).flatMap(([name, setting]) =>
    ['timezone', 'verify', 'all'].includes(name) || setting === null ? [] : [{ name, setting }],
  );
  const inForce = set.length > 0 || all === null ? set : [{ name: 'all', setting: all }];
  return inForce.map(({ name, setting }) => {
    const cron = typeof setting === 'string' ? setting : setting.cron;
    const pages = typeof setting === 'object' && 'pages' in setting ? setting.pages : null;
    return { name, cron, timezone, kinds: namesOf(config, kindsOf(name, setting)), pages };
  });
}

function kindsOf(name: string, setting: ScheduleSetting): readonly string[] {
  if (typeof setting === 'string') return name === 'all' ? [] : [name];
  if ('kind' in setting) return [setting.kind];
  return setting.kinds === 'all' ? [] : setting.kinds;
}

/** The names of these kinds; of all that have a list, if none is named. */
const namesOf = (config: Config, kinds: readonly string[]): readonly string[] =>
  listedKinds(config, kinds).map(({ name }) => name);
