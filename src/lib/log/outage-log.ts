import { lengthOf, sleepUnlessStopped } from '../time/clock.ts';
import type { Clock } from '../time/clock.ts';
import { LATE, within } from '../time/deadline.ts';
import { createFaultLog, faultReason } from './fault-log.ts';
import type { FaultLog } from './fault-log.ts';
import type { Logger } from './logger.ts';

/** Tells in the log when something that we depend on goes away and comes back, by the ends of calls to it. */
export interface OutageLog {
  answered(part?: string): void;
  /** `begunAt`: when the call began, in milliseconds since 1970. */
  failed(error: unknown, begunAt: number, part?: string): void;
  /** Whether it is away. */
  isOn(): boolean;
}

interface Subject {
  /** The beginning of the events' names: `source` for `source.unreachable` and `source.back`. */
  readonly event: 'source' | 'database' | 'queue';
  /** Its name in messages: `the service`. */
  readonly name: string;
}

export function createOutageLog(
  { logger, clock }: { readonly logger: Logger; readonly clock: Pick<Clock, 'now'> },
  { event, name }: Subject,
): OutageLog {
  let outage: Outage | null = null;
  let answeredAt = -Infinity;
  const step = (end: CallEnd, error?: unknown): void => {
    const before = outage;
    const { outage: after, tell } = nextOutage(before, end);
    outage = after;
    if (tell === 'ended' && before !== null) tellEnd(before, end.at);
    else if (tell !== null && after !== null) tellOutage(after, faultReason(error), tell === 'lasts');
  };
  const tellOutage = ({ since, failures }: Outage, reason: string, lasts: boolean): void => {
    const facts = { event: `${event}.unreachable`, since: new Date(since).toISOString(), reason, failures };
    logger.warn(facts, `${name} is ${lasts ? 'still ' : ''}unreachable since ${timeOf(since)}: ${reason}`);
  };
  const tellEnd = ({ since, failures }: Outage, at: number): void => {
    const facts = { event: `${event}.back`, since: new Date(since).toISOString(), durationMs: at - since };
    const cost = failures === 1 ? 'one call' : `${failures} calls`;
    logger.info({ ...facts, failures }, `${name} is back after ${lengthOf(at - since)}; ${cost} failed`);
  };
  return {
    answered: (part = '') => {
      answeredAt = clock.now().getTime();
      if (outage !== null) step({ is: 'answered', at: answeredAt, part });
    },
    failed: (error, begunAt, part = '') => {
      // A call that waited for others began long before the outage: an answer in the meantime is the better evidence.
      const began = Math.max(begunAt, answeredAt);
      step({ is: 'failed', at: clock.now().getTime(), part, begunAt: began }, error);
    },
    isOn: () => outage !== null,
  };
}

interface Probing extends Subject {
  /** Asks it for something. @throws If it does not answer. */
  readonly probe: () => Promise<unknown>;
  /** The longest that it may take to answer. */
  readonly answerMs: number;
  /** Between two probes while it is away. */
  readonly everyMs: number;
}

/**
 * Creates a log of faults that asks the subject itself after a fault: libraries report faults in too many forms to tell by them
 * whether it is away. While it is away it is asked again now and then, because nothing else may use it for hours.
 */
export function createProbingLog(
  { logger, clock }: { readonly logger: Logger; readonly clock: Clock },
  { probe, answerMs, everyMs, ...subject }: Probing,
): { readonly faults: FaultLog; readonly stop: () => Promise<void> } {
  const log = createFaultLog({ clock, logger });
  const outage = createOutageLog({ clock, logger }, subject);
  const stopping = new AbortController();
  let asking: Promise<void> | null = null;
  const isThere = (): Promise<boolean> =>
    within(clock, answerMs, probe()).then(
      (answer) => answer !== LATE,
      () => false, // The fault that led here says why.
    );
  const ask = async (work: string, error: unknown): Promise<void> => {
    const begunAt = clock.now().getTime();
    if (await isThere()) log(work, error);
    else outage.failed(error, begunAt);
    while (outage.isOn()) {
      await sleepUnlessStopped(everyMs, { clock, signal: stopping.signal });
      if (stopping.signal.aborted) return;
      if (await isThere()) outage.answered();
      else outage.failed(error, begunAt);
    }
  };
  return {
    faults: (work, error) => {
      if (stopping.signal.aborted) return;
      asking ??= ask(work, error).finally(() => {
        asking = null;
      });
    },
    stop: async () => {
      stopping.abort();
      await asking;
    },
  };
}

const timeOf = (instant: number): string => new Date(instant).toISOString().slice(11, 19);

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
