import type { Clock } from '../lib/time/clock.ts';
import type { Logger } from '../lib/log/logger.ts';
import { createOutageLog } from '../lib/log/outage-log.ts';
import { isDatabaseUnavailable } from '../db/session/errors.ts';
import type { Session } from '../db/session/session.ts';
import { AWAY_REASONS, SourceError } from '../source/http/errors.ts';
import type { Source } from '../source/source.ts';

interface OutageWatch {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Logs when the database becomes unreachable and when it is back, based on the calls of this session. Reads and writes have
 * separate connections: the database is back once both have answered.
 */
export function watchDatabase(session: Session, parts: OutageWatch): Session {
  const log = createOutageLog(parts, { event: 'database', name: 'the database' });
  const watched = async <T>(part: string, call: () => Promise<T>): Promise<T> => {
    try {
      const result = await call();
      log.answered(part);
      return result;
    } catch (error) {
      if (isDatabaseUnavailable(error)) log.failed(error, part);
      throw error;
    }
  };
  return {
    ...session,
    query: (statement) => watched('reads', () => session.query(statement)),
    atomically: (work) => watched('writes', () => session.atomically(work)),
  };
}

/** Reports in the log when the service goes away and comes back: a read that has used up its tries, and the next usable answer. */
export function watchService(source: Source, parts: OutageWatch): Source {
  const log = createOutageLog(parts, { event: 'source', name: 'the service' });
  const failed = (error: unknown): void => {
    if (error instanceof SourceError && AWAY_REASONS.includes(error.reason)) log.failed(error);
  };
  async function* watched<T>(pages: AsyncIterable<T>): AsyncIterable<T> {
    try {
      for await (const page of pages) {
        log.answered();
        yield page;
      }
    } catch (error) {
      failed(error);
      throw error;
    }
  }
  return {
    ...source,
    sweep: (kind, options) => watched(source.sweep(kind, options)),
    pages: (kind, range, options) => watched(source.pages(kind, range, options)),
    retrieve: async (kind, id, options) => {
      try {
        const retrieved = await source.retrieve(kind, id, options);
        log.answered();
        return retrieved;
      } catch (error) {
        failed(error);
        throw error;
      }
    },
    write: async (request, options) => {
      const answer = await source.write(request, options);
      if (answer.is === 'answered' && answer.status < 500 && answer.status !== 429) log.answered();
      // The code of a network fault, in capitals. Our own reasons for not sending are in small letters.
      if (answer.is === 'unsent' && /^[A-Z]/.test(answer.why))
        log.failed(Object.assign(new Error(answer.why), { code: answer.why }));
      return answer;
    },
  };
}
