import type { Config } from '../config/settings.ts';
import { startQuietSweeps } from '../jobs/schedule/quiet-sweeps.ts';
import { startSchedules as startTicking } from '../jobs/schedule/schedule.ts';
import type { Schedule } from '../jobs/schedule/schedule.ts';
import { cronFault } from '../lib/cron.ts';
import { UsageError } from '../lib/sync-error.ts';
import { listedKinds } from './kinds.ts';
import type { ServiceParts } from './outbound-queue.ts';
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
  const pulls = roles.includes('pulls');
  const ticked = { ...parts, isDead: owner.isDead };
  const kinds = pulls ? listedKinds(config, []).map(({ name }) => name) : [];
  const schedules = pulls ? [...schedulesOf(config), ...verifySchedule(config)] : [];
  const stops = [startTicking(ticked, schedules), startQuietSweeps(ticked, kinds)];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

type Wish = Exclude<Config['schedules'][string], null>;

/** The schedule of verifications of all kinds; empty if it is turned off. */
export function verifySchedule(config: Config): readonly Schedule[] {
  const { timezone, verify } = config.schedules;
  if (verify === null) return [];
  const kinds = listedKinds(config).map(({ name }) => name);
  return [{ name: 'verify', cron: cronOf('verify', verify), timezone, kinds, pages: null, verifies: true }];
}

/** The pull schedules of the settings. */
export function schedulesOf(config: Config): readonly Schedule[] {
  const { timezone } = config.schedules;
  return Object.entries(config.schedules).flatMap(([name, wish]) => {
    if (name === 'timezone' || name === 'verify' || wish === null) return [];
    const cron = cronOf(name, typeof wish === 'string' ? wish : wish.cron);
    const pages = typeof wish === 'object' && 'pages' in wish ? wish.pages : null;
    const kinds = listedKinds(config, kindsOf(name, wish)).map((kind) => kind.name);
    return { name, cron, timezone, kinds, pages };
  });
}

function cronOf(name: string, text: string): string {
  const expected = cronFault(text);
  if (expected === null) return text;
  throw new UsageError(`schedules.${name}: expected ${expected}.`, { code: 'settings.invalid' });
}

function kindsOf(name: string, wish: Wish): readonly string[] {
  if (typeof wish === 'string') return [name];
  if ('kind' in wish) return [wish.kind];
  return wish.kinds === 'all' ? [] : wish.kinds;
}
