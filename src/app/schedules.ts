import { listedKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { startQuietSweeps } from '../jobs/schedule/quiet-sweeps.ts';
import { startSchedules as startTicking } from '../jobs/schedule/schedule.ts';
import type { Schedule } from '../jobs/schedule/schedule.ts';
import type { ServiceParts } from './queues.ts';
import type { Role } from './roles.ts';

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
  const stops = [
    startTicking(ticked, [...schedulesOf(config), ...verifySchedule(config)]),
    startQuietSweeps(ticked, namesOf(config, [])),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

type Wish = Exclude<Config['schedules'][string], null>;

/** The schedule of verifications of all kinds; empty if it is turned off. */
export function verifySchedule(config: Config): readonly Schedule[] {
  const { timezone, verify } = config.schedules;
  if (verify === null) return [];
  const kinds = namesOf(config, []);
  return [{ name: 'verify', cron: verify, timezone, kinds, pages: null, verifies: true }];
}

/** The pull schedules of the settings. */
export function schedulesOf(config: Config): readonly Schedule[] {
  const { timezone } = config.schedules;
  return Object.entries(config.schedules).flatMap(([name, wish]) => {
    if (name === 'timezone' || name === 'verify' || wish === null) return [];
    const cron = typeof wish === 'string' ? wish : wish.cron;
    const pages = typeof wish === 'object' && 'pages' in wish ? wish.pages : null;
    return { name, cron, timezone, kinds: namesOf(config, kindsOf(name, wish)), pages };
  });
}

function kindsOf(name: string, wish: Wish): readonly string[] {
  if (typeof wish === 'string') return [name];
  if ('kind' in wish) return [wish.kind];
  return wish.kinds === 'all' ? [] : wish.kinds;
}

/** The names of these kinds; of all that have a list, if none is named. */
const namesOf = (config: Config, kinds: readonly string[]): readonly string[] =>
  listedKinds(config, kinds).map(({ name }) => name);
