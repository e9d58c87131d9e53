import { checkAll } from '../../checks/doctor.ts';
import type { Config } from '../../config/settings.ts';
import type { CheckResult } from '../../lib/check-result.ts';
import { systemClock } from '../../lib/time/clock.ts';
import type { Logger } from '../../lib/log/logger.ts';
import { openSession } from '../../mirror/open-session.ts';
import { nextSlots } from '../../jobs/schedule.ts';
import { allSchedules } from '../schedules.ts';
import { openConfiguredSource } from '../open-source.ts';

/** Checks everything that a pull needs; creates nothing and changes nothing. */
export function examine(config: Config, logger: Logger): Promise<readonly CheckResult[]> {
  return checkAll({
    config,
    slots: nextSlots(allSchedules(config), systemClock.now()),
    openMirror: () => openSession(config.database.url),
    openSource: () => openConfiguredSource(config, { clock: systemClock, logger }),
  });
}
