import { passed } from '../../lib/check-result.ts';
import type { CheckResult } from '../../lib/check-result.ts';
import { SyncError } from '../../lib/sync-error.ts';

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
