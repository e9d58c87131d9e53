import type { Clock } from '../lib/time/clock.ts';
import type { Logger } from '../lib/log/logger.ts';
import { createOutageLog } from '../lib/log/outage-log.ts';
import type { OutageLog } from '../lib/log/outage-log.ts';
import { isAway } from '../mirror/session/errors.ts';
import type { Session } from '../mirror/session/session.ts';
import { AWAY_REASONS, SourceError } from '../source/http/errors.ts';
import type { Source } from '../source/source.ts';

interface WatchParts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Reads and writes have connections of their own: the database is back once both have answered. */
const [READS, WRITES] = ['reads', 'writes'];

/** Tells in the log when the database goes away and comes back, by the calls of this session. */
export function watchDatabase(session: Session, parts: WatchParts): Session {
  const log = createOutageLog(parts, { event: 'database', name: 'the database' });
  const watched = async <T>(part: string | undefined, call: () => Promise<T>): Promise<T> => {
    const begunAt = parts.clock.now().getTime();
    try {
      const result = await call();
      log.answered(part);
      return result;
    } catch (error) {
      if (isAway(error)) log.failed(error, begunAt, part);
      throw error;
    }
  };
  return {
    ...session,
    query: (statement) => watched(READS, () => session.query(statement)),
    atomically: (work) => watched(WRITES, () => session.atomically(work)),
  };
}

/** Tells in the log when the service goes away and comes back: a read that has used up its tries, and the next usable answer. */
export function watchService(source: Source, parts: WatchParts): Source {
  const log = createOutageLog(parts, { event: 'source', name: 'the service' });
  const now = (): number => parts.clock.now().getTime();
  const failed = (error: unknown, begunAt: number): void => {
    if (error instanceof SourceError && AWAY_REASONS.includes(error.reason)) log.failed(error, begunAt);
  };
  return {
    ...source,
    sweep: (kind, options) => watchedPages(source.sweep(kind, options), { log, now, failed }),
    pages: (kind, range, options) => watchedPages(source.pages(kind, range, options), { log, now, failed }),
    retrieve: async (kind, id, options) => {
      const begunAt = now();
      try {
        const retrieved = await source.retrieve(kind, id, options);
        log.answered();
        return retrieved;
      } catch (error) {
        failed(error, begunAt);
        throw error;
      }
    },
    write: async (request, options) => {
      const begunAt = now();
      const answer = await source.write(request, options);
      if (answer.is === 'answered' && isUsable(answer.status)) log.answered();
      if (answer.is === 'unsent' && isCode(answer.why))
        log.failed(Object.assign(new Error(answer.why), { code: answer.why }), begunAt);
      return answer;
    },
  };
}

const isUsable = (status: number): boolean => status < 500 && status !== 429;

/** A network's code, unlike our own words for a send that was not to be. */
const isCode = (why: string): boolean => /^[A-Z]/.test(why);

interface Watching {
  readonly log: OutageLog;
  readonly now: () => number;
  readonly failed: (error: unknown, begunAt: number) => void;
}

async function* watchedPages<T>(pages: AsyncIterable<T>, { log, now, failed }: Watching): AsyncIterable<T> {
  let askedAt = now();
  try {
    for await (const page of pages) {
      log.answered();
      yield page;
      askedAt = now();
    }
  } catch (error) {
    failed(error, askedAt);
    throw error;
  }
}
