import type { Config } from '../config/settings.ts';
import { tickQuietSweeps } from '../jobs/quiet-sweeps.ts';
import { tickSchedules } from '../jobs/schedule.ts';
import type { Schedule } from '../jobs/schedule.ts';
import { parseCron } from '../lib/cron.ts';
import { UsageError } from '../lib/sync-error.ts';
import { listedKinds } from './kinds.ts';
import type { ServiceParts } from './outbound-queue.ts';
import type { Role } from './roles.ts';

/** Asks for the scheduled runs as they come due, and for sweeps at quiet hours, where this process is one that pulls; returns what stops it. */
export function startSchedules(
  config: Config,
  { owner, ...parts }: Pick<ServiceParts, 'session' | 'clock' | 'logger' | 'owner'>,
  roles: readonly Role[],
): () => Promise<void> {
  const pulls = roles.includes('pulls');
  const ticked = { ...parts, isDead: owner.isDead };
  const kinds = pulls ? listedKinds(config, []).map(({ name }) => name) : [];
  const stops = [tickSchedules(ticked, pulls ? schedulesOf(config) : []), tickQuietSweeps(ticked, kinds)];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

type Wish = Config['schedules'][string];

/** The schedules of the settings. */
export function schedulesOf(config: Config): readonly Schedule[] {
  const { timezone, ...wishes } = config.schedules;
  return Object.entries(wishes).map(([name, wish]) => {
    const parsed = parseCron(typeof wish === 'string' ? wish : wish.cron);
    if (parsed.is === 'fault')
      throw new UsageError(`schedules.${name}: expected ${parsed.expected}.`, { code: 'settings.invalid' });
    const pages = typeof wish === 'object' && 'pages' in wish ? wish.pages : null;
    const kinds = listedKinds(config, kindsOf(name, wish)).map((kind) => kind.name);
    return { name, cron: parsed.cron, timezone, kinds, pages };
  });
}

function kindsOf(name: string, wish: Wish): readonly string[] {
  if (typeof wish === 'string') return [name];
  if ('kind' in wish) return [wish.kind];
  return wish.kinds === 'all' ? [] : wish.kinds;
}
