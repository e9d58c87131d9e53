import type { Config } from '../config/settings.ts';
import { passed } from '../lib/check-result.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { SyncError } from '../lib/sync-error.ts';
import type { Session } from '../mirror/session/session.ts';
import type { Source } from '../source/source.ts';

/** A schedule of the background service, with the instant (UTC) when it comes due next. */
export interface ScheduleSlot {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly kinds: readonly string[];
  /** The number of pages from the beginning of each list; null = whole lists. */
  readonly pages: number | null;
  readonly verifies: boolean;
  readonly at: string;
}

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
