import { checkAll } from '../checks/doctor.ts';
import type { Config } from '../config/settings.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { openMirror } from './open-mirror.ts';
import { openConfiguredSource } from './open-source.ts';

/** Checks everything that a pull needs; changes no data. */
export function examine(config: Config, logger: Logger): Promise<readonly CheckResult[]> {
  return checkAll({
    config,
    openMirror: () => openMirror(config),
    openSource: () => openConfiguredSource(config, { clock: systemClock, logger }),
  });
}
