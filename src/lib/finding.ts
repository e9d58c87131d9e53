/** One thing that was looked at, as `doctor` shows it. */
export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  /** The stable name of what is wrong; null where nothing is. */
  readonly code: string | null;
  /** What was found. */
  readonly detail: string;
  /** What to do where it is not well. */
  readonly hint: string | null;
}

export const well = (name: string, detail: string): Finding => ({
  name,
  ok: true,
  code: null,
  detail,
  hint: null,
});
