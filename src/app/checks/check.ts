import { well } from '../../lib/finding.ts';
import type { Finding } from '../../lib/finding.ts';
import { SyncError } from '../../lib/sync-error.ts';

/** Looks at one thing: what it throws is what is wrong with it. */
export async function check(name: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return well(name, await look());
  } catch (error) {
    if (error instanceof SyncError)
      return { name, ok: false, code: error.code, detail: error.message, hint: error.hint ?? null };
    throw error;
  }
}
