/** The result of one check, as `doctor` shows it. */
export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  /** The stable code of the fault; null if the check passed. */
  readonly code: string | null;
  /** The result in words. */
  readonly detail: string;
  /** Advice if the check failed. */
  readonly hint: string | null;
}

export const passed = (name: string, detail: string): CheckResult => ({
  name,
  ok: true,
  code: null,
  detail,
  hint: null,
});
