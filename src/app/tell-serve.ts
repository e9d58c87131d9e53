import type { Config } from '../config/settings.ts';
import { nextSlot } from '../jobs/schedule/schedule.ts';
import type { Schedule } from '../jobs/schedule/schedule.ts';
import type { Logger } from '../lib/logger.ts';
import type { Role } from './roles.ts';
import { isAllOverruled, schedulesOf, verifySchedule } from './schedules.ts';

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
  const schedules = pulls
    ? [...schedulesOf(config), ...verifySchedule(config)].map((each) => slotOf(each, now))
    : [];
  const { writes } = config.outbound;
  const facts = { event: 'serve.started', owner, roles, mirror, schedules, writes };
  const told = [
    `serving ${roles.join(', ')}`,
    ...(pulls ? [pullsText(schedules)] : []),
    ...(roles.includes('outbound') ? [WRITES[writes]] : []),
  ];
  logger.info(facts, told.join('; '));
  if (pulls && isAllOverruled(config))
    logger.warn(
      'schedules.all is not in force, because another schedule is set: give it another name, such as everything',
    );
}

const WRITES = {
  on: 'writes are on: entries of the outbox are sent',
  off: 'writes are off: entries of the outbox are kept, and nothing is sent (outbound.writes)',
};

/** The name of a schedule and its next slot. */
interface Slot extends Pick<Schedule, 'name' | 'cron' | 'kinds'> {
  readonly next: string;
}

function slotOf({ name, cron, kinds, timezone }: Schedule, now: Date): Slot {
  return { name, cron, kinds, next: nextSlot(cron, timezone, now).toISOString() };
}

function pullsText(slots: readonly Slot[]): string {
  const pulls = slots
    .filter(({ name }) => name !== 'verify')
    .toSorted((a, b) => a.next.localeCompare(b.next));
  const [first] = pulls;
  if (first === undefined) return 'nothing is pulled by itself, because no schedule is set (schedules)';
  return `${pulls.length === 1 ? 'the schedule' : `${pulls.length} schedules, the next one`} ${first.name} is due at ${first.next}`;
}
