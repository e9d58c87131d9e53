import { SyncError } from './sync-error.ts';

/** The result of one check, as `doctor` shows it. */
export interface CheckResult {
  readonly name: string;
  /** Null if it is not known, because another check failed. */
  readonly ok: boolean | null;
  /** The stable code of the fault; null if the check passed. */
  readonly code: string | null;
  readonly detail: string;
  readonly hint: string | null;
}

export function passedCheck(name: string, detail: string): CheckResult {
  return { name, ok: true, code: null, detail, hint: null };
}

/** The result of a check that needs the database, where that cannot be read. */
export const unknownCheck = (name: string): CheckResult => ({ ...passedCheck(name, UNKNOWN), ok: null });
const UNKNOWN = 'not known, because the database cannot be read';

export function failedCheck(name: string, code: string, detail: string, hint: string | null): CheckResult {
  return { name, ok: false, code, detail, hint };
}

/** Runs one check: an error that it throws is the fault found. */
export async function runCheck(name: string, work: () => Promise<string>): Promise<CheckResult> {
  try {
    return passedCheck(name, await work());
  } catch (error) {
    if (error instanceof SyncError) return failedCheck(name, error.code, error.message, error.hint ?? null);
    throw error;
  }
}
