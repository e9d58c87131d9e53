/** Something that the outbox or the mirror did, or claims, and the truth contradicts. */
export interface Finding {
  readonly checker: string;
  readonly detail: string;
  /** Of the entry that it is about; null where it is about the mirror. */
  readonly entry: number | null;
}

export function finding(checker: string, entry: number | null, detail: string): Finding {
  return { checker, entry, detail: entry === null ? detail : `entry ${entry}: ${detail}` };
}
