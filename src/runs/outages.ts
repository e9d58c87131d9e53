import type { MirrorContext } from '../db/mirror-context.ts';
import { createFaultLog, type FaultLog } from '../lib/log/fault-log.ts';
import { isDatabaseUnavailable } from '../db/session/errors.ts';
import type { Session } from '../db/session/session.ts';
import { AWAY_REASONS, SourceError } from '../source/http/errors.ts';
import type { Source } from '../source/source.ts';

type OutageWatch = Omit<MirrorContext, 'session'>;

/** Makes a function that logs how its calls end. */
function watchCalls(log: FaultLog, isAway: (error: unknown) => boolean) {
  return async <T>(call: () => Promise<T>, part?: string): Promise<T> => {
    try {
      const result = await call();
      log.succeeded(part);
      return result;
    } catch (error) {
      if (isAway(error)) log.failed(error, part);
      throw error;
    }
  };
}

/**
 * Logs when the database becomes unreachable and when it is back, based on the calls of this session. Reads and writes have
 * separate connections: the database is back once both have answered.
 */
export function watchDatabase(session: Session, parts: OutageWatch): Session {
  const log = createFaultLog(parts, { event: 'database', name: 'the database' });
  const watch = watchCalls(log, isDatabaseUnavailable);
  return {
    ...session,
    query: (statement) => watch(() => session.query(statement), 'reads'),
    atomically: (work) => watch(() => session.atomically(work), 'writes'),
  };
}

const isServiceAway = (error: unknown): boolean =>
  error instanceof SourceError && AWAY_REASONS.includes(error.reason);

/** Reports in the log when the service goes away and comes back: a read that has used up its tries, and the next usable answer. */
export function watchService(source: Source, parts: OutageWatch): Source {
  const log = createFaultLog(parts, { event: 'source', name: 'the service' });
  const watch = watchCalls(log, isServiceAway);
  async function* watchPages<T>(pages: AsyncIterable<T>): AsyncIterable<T> {
    try {
      for await (const page of pages) {
        log.succeeded();
        yield page;
      }
    } catch (error) {
      if (isServiceAway(error)) log.failed(error);
      throw error;
    }
  }
  return {
    ...source,
    sweep: (kind, options) => watchPages(source.sweep(kind, options)),
    pages: (kind, range, options) => watchPages(source.pages(kind, range, options)),
    retrieve: (kind, id, options) => watch(() => source.retrieve(kind, id, options)),
    write: async (request, options) => {
      const answer = await source.write(request, options);
      if (answer.is === 'answered' && answer.status < 500 && answer.status !== 429) log.succeeded();
      // The code of a network fault, in capitals. Our own reasons for not sending are in small letters.
      if (answer.is === 'unsent' && /^[A-Z]/.test(answer.why))
        log.failed(Object.assign(new Error(answer.why), { code: answer.why }));
      return answer;
    },
  };
}
