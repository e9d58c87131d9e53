import { lengthOf } from '../time/clock.ts';
import type { Clock } from '../time/clock.ts';
import { faultReason } from './fault-reason.ts';
import type { Logger } from './logger.ts';
import { nextOutage } from './outage.ts';
import type { CallEnd, Outage } from './outage.ts';

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

const timeOf = (instant: number): string => new Date(instant).toISOString().slice(11, 19);
