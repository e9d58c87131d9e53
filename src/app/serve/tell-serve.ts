import { isAllOverruled } from '../../checks/plans.ts';
import type { Config } from '../../config/settings.ts';
import { instantOf } from '../../lib/time/clock.ts';
import { nextSlots } from '../../jobs/schedule/schedule.ts';
import type { ScheduleSlot } from '../../jobs/schedule/schedule.ts';
import type { Logger } from '../../lib/log/logger.ts';
import type { Role } from '../roles.ts';
import { allSchedules } from './schedules.ts';

interface Starting {
  readonly owner: string;
  readonly roles: readonly Role[];
  /** Where the mirror is, without a password. */
  readonly mirror: string;
  readonly now: Date;
}

/** Tells in the log what the background service is going to do. */
export function tellStart(logger: Logger, config: Config, { owner, roles, mirror, now }: Starting): void {
  const pulls = roles.includes('pulls');
  const slots = pulls ? nextSlots(allSchedules(config), now) : [];
  const schedules = slots.map(({ name, cron, kinds, at }) => ({ name, cron, kinds, next: isoOf(at) }));
  const { writes } = config.outbound;
  const facts = { event: 'serve.started', owner, roles, mirror, schedules, writes };
  const told = [
    `serving ${roles.join(', ')}`,
    ...(pulls ? [pullsText(slots), ...betweenText(config)] : []),
    ...(roles.includes('outbound') ? [WRITES[writes]] : []),
  ];
  logger.info(facts, told.join('; '));
  if (pulls && isAllOverruled(config, slots))
    logger.warn(
      'schedules.all is not in force, because another schedule is set: give it another name, such as everything',
    );
}

const WRITES = {
  on: 'writes are on: entries of the outbox are sent',
  off: 'writes are off: entries of the outbox are kept, and nothing is sent (outbound.writes)',
};

const isoOf = (at: string): string => instantOf(at).toISOString();

function betweenText({ freshness: { requestsPerMinute: budget } }: Config): readonly string[] {
  return budget === null ? [] : [`up to ${budget} requests a minute read pages between sweeps`];
}

function pullsText(slots: readonly ScheduleSlot[]): string {
  const pulls = slots.filter(({ verifies }) => !verifies);
  const [first] = pulls;
  if (first === undefined) return 'nothing is pulled by itself, because no schedule is set (schedules)';
  return `${pulls.length === 1 ? 'the schedule' : `${pulls.length} schedules, the next one`} ${first.name} is due at ${isoOf(first.at)}`;
}
