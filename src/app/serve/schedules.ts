import { listedKinds } from '../../config/known-kinds.ts';
import { settings } from '../../config/settings.ts';
import type { Config } from '../../config/settings.ts';
import { startFirstReads } from '../../jobs/schedule/first-reads.ts';
import { startQuietSweeps } from '../../jobs/schedule/quiet-sweeps.ts';
import { startStaleWatch } from '../../jobs/schedule/stale-kinds.ts';
import { startSchedules as startTicking } from '../../jobs/schedule/schedule.ts';
import type { Schedule } from '../../jobs/schedule/schedule.ts';
import type { ServiceParts } from './queues.ts';
import type { Role } from '../roles.ts';

/**
 * Requests the scheduled runs as they come due, and sweeps at quiet hours, if this process has the role of pulling. Returns a
 * function that stops it.
 */
export function startSchedules(
  config: Config,
  { owner, ...parts }: Pick<ServiceParts, 'session' | 'clock' | 'logger' | 'owner'>,
  roles: readonly Role[],
): () => Promise<void> {
  if (!roles.includes('pulls')) return () => Promise.resolve();
  const ticked = { ...parts, isDead: owner.isDead };
  const pulls = schedulesOf(config);
  const stops = [
    startFirstReads(ticked, [...new Set(pulls.flatMap(({ kinds }) => kinds))]),
    startTicking(ticked, [...pulls, ...verifySchedule(config)]),
    startQuietSweeps(ticked, namesOf(config, [])),
    startStaleWatch(ticked, pulls),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

/** All schedules in force: of pulls and of verifications. */
export const allSchedules = (config: Config): readonly Schedule[] => [
  ...schedulesOf(config),
  ...verifySchedule(config),
];

type Wish = Exclude<Config['schedules'][string], null>;

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
  const set = Object.entries(config.schedules).flatMap(([name, wish]) =>
    ['timezone', 'verify', 'all'].includes(name) || wish === null ? [] : [{ name, wish }],
  );
  const inForce = set.length > 0 || all === null ? set : [{ name: 'all', wish: all }];
  return inForce.map(({ name, wish }) => {
    const cron = typeof wish === 'string' ? wish : wish.cron;
    const pages = typeof wish === 'object' && 'pages' in wish ? wish.pages : null;
    return { name, cron, timezone, kinds: namesOf(config, kindsOf(name, wish)), pages };
  });
}

/** Whether `schedules.all` was changed in vain: another schedule is set. */
export function isAllOverruled(config: Config): boolean {
  const { all } = config.schedules;
  const isDefault = JSON.stringify(all) === JSON.stringify(settings.parse({}).schedules.all);
  return all !== null && !isDefault && !schedulesOf(config).some(({ name }) => name === 'all');
}

function kindsOf(name: string, wish: Wish): readonly string[] {
  if (typeof wish === 'string') return name === 'all' ? [] : [name];
  if ('kind' in wish) return [wish.kind];
  return wish.kinds === 'all' ? [] : wish.kinds;
}

/** The names of these kinds; of all that have a list, if none is named. */
const namesOf = (config: Config, kinds: readonly string[]): readonly string[] =>
  listedKinds(config, kinds).map(({ name }) => name);
