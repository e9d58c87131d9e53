import type { Config } from '../config/settings.ts';
import { startSchedules as startTicking } from '../jobs/schedule/schedule.ts';
import type { Schedule } from '../jobs/schedule/schedule.ts';
import { cronFault } from '../lib/cron.ts';
import { UsageError } from '../lib/sync-error.ts';
import { listedKinds } from './kinds.ts';
import type { ServiceParts } from './outbound-queue.ts';
import type { Role } from './roles.ts';

/** Asks for the scheduled runs as they come due, where this process is one that pulls; returns what stops it. */
export function startSchedules(
  config: Config,
  { owner, ...parts }: Pick<ServiceParts, 'session' | 'clock' | 'logger' | 'owner'>,
  roles: readonly Role[],
): () => Promise<void> {
  const schedules = roles.includes('pulls') ? schedulesOf(config) : [];
  return startTicking({ ...parts, isDead: owner.isDead }, schedules);
}

type Wish = Config['schedules'][string];

/** The schedules of the settings. */
export function schedulesOf(config: Config): readonly Schedule[] {
  const { timezone, ...wishes } = config.schedules;
  return Object.entries(wishes).map(([name, wish]) => {
    const cron = typeof wish === 'string' ? wish : wish.cron;
    const expected = cronFault(cron);
    if (expected !== null)
      throw new UsageError(`schedules.${name}: expected ${expected}.`, { code: 'settings.invalid' });
    const pages = typeof wish === 'object' && 'pages' in wish ? wish.pages : null;
    const kinds = listedKinds(config, kindsOf(name, wish)).map((kind) => kind.name);
    return { name, cron, timezone, kinds, pages };
  });
}

function kindsOf(name: string, wish: Wish): readonly string[] {
  if (typeof wish === 'string') return [name];
  if ('kind' in wish) return [wish.kind];
  return wish.kinds === 'all' ? [] : wish.kinds;
}
