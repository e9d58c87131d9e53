import type { Config } from '../config/settings.ts';
import type { ScheduleSlot } from '../jobs/schedule.ts';
import { passed } from '../lib/check-result.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { SyncError } from '../lib/sync-error.ts';
import type { Session } from '../mirror/session/session.ts';
import type { Source } from '../source/source.ts';

/** The settings, and how to open what they name. */
export interface DoctorParts {
  readonly config: Config;
  /** The next actions of `serve`. */
  readonly slots: readonly ScheduleSlot[];
  /** Opens the database as it is: nothing is migrated. */
  readonly openMirror: () => Promise<Session>;
  /** @throws {UsageError} If its address or the token is not set. */
  readonly openSource: () => Source;
}

/** Runs one check: an error that it throws is the fault found. */
export async function check(name: string, look: () => Promise<string>): Promise<CheckResult> {
  try {
    return passed(name, await look());
  } catch (error) {
    if (error instanceof SyncError)
      return { name, ok: false, code: error.code, detail: error.message, hint: error.hint ?? null };
    throw error;
  }
}
