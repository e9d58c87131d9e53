import { well } from '../../lib/finding.ts';
import type { Finding } from '../../lib/finding.ts';
import { SyncError } from '../../lib/sync-error.ts';

/** Runs one check: an error that it throws is the fault found. */
export async function check(name: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return well(name, await look());
  } catch (error) {
    if (error instanceof SyncError)
      return { name, ok: false, code: error.code, detail: error.message, hint: error.hint ?? null };
    throw error;
  }
}
