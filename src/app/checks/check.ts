import { SyncError } from '../../lib/sync-error.ts';

/** One thing that was looked at. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** The stable name of what is wrong; null where nothing is. */
  readonly code: string | null;
  /** What was found. */
  readonly detail: string;
  /** What to do where it is not well. */
  readonly hint: string | null;
}

export const well = (name: string, detail: string): Check => ({
  name,
  ok: true,
  code: null,
  detail,
  hint: null,
});

/** Looks at one thing: what it throws is what is wrong with it. */
export async function check(name: string, look: () => Promise<string>): Promise<Check> {
  try {
    return well(name, await look());
  } catch (error) {
    if (error instanceof SyncError)
      return { name, ok: false, code: error.code, detail: error.message, hint: error.hint ?? null };
    throw error;
  }
}
