/** Something that we depend on does not answer. Instants are milliseconds since 1970. */
export interface Outage {
  readonly since: number;
  /** When a person was last told of it. */
  readonly toldAt: number;
  /** How many calls have failed since it began. */
  readonly failures: number;
  /** The parts that failed and have not answered since: a database that can be read only is still away. */
  readonly parts: readonly string[];
}

/** How a call ended. A failed call that began at `begunAt` was answered by nobody since then. */
export type CallEnd =
  | { readonly is: 'answered'; readonly at: number; readonly part: string }
  | { readonly is: 'failed'; readonly at: number; readonly part: string; readonly begunAt: number };

export interface OutageStep {
  /** Null: it answers. */
  readonly outage: Outage | null;
  /** The news for a person, if there is any. */
  readonly tell: 'began' | 'lasts' | 'ended' | null;
}

/** An outage that lasts is told again after this time. */
export const REMIND_MS = 300_000;

/** Judges the end of a call: the first failure of an outage and its end are news, and now and then that it lasts. */
export function nextOutage(outage: Outage | null, end: CallEnd): OutageStep {
  return end.is === 'failed' ? afterFailure(outage, end) : afterAnswer(outage, end);
}

function afterFailure(outage: Outage | null, end: Extract<CallEnd, { is: 'failed' }>): OutageStep {
  const { at, part, begunAt } = end;
  if (outage === null) {
    const since = Math.min(begunAt, at);
    return { outage: { since, toldAt: at, failures: 1, parts: [part] }, tell: 'began' };
  }
  const parts = outage.parts.includes(part) ? outage.parts : [...outage.parts, part];
  const longer = { ...outage, parts, failures: outage.failures + 1 };
  if (at - outage.toldAt < REMIND_MS) return { outage: longer, tell: null };
  return { outage: { ...longer, toldAt: at }, tell: 'lasts' };
}

function afterAnswer(outage: Outage | null, { part }: CallEnd): OutageStep {
  if (outage === null) return { outage, tell: null };
  const parts = outage.parts.filter((each) => each !== part);
  return parts.length === 0 ? { outage: null, tell: 'ended' } : { outage: { ...outage, parts }, tell: null };
}
