import type { Session } from '../../src/db/session/session.ts';
import { openForTest } from '../store/postgres-mirror.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';
import type { Template } from '../support/postgres-templates.ts';

export interface PostgresMirror {
  readonly session: Session;
  readonly url: string;
}

/** A migrated mirror in a PostgreSQL database of its own. */
export async function postgresMirror(template: Template = 'template_grown'): Promise<PostgresMirror> {
  const url = await freshDatabaseUrl(template);
  return { session: await openForTest(url), url };
}

/** The session of a process that dies at the nth statement that draws the schema. */
export function dyingAt(session: Session, n: number): Session {
  let statements = 0;
  return {
    ...session,
    atomically: (work) =>
      session.atomically((tx) => {
        const execute = (statement: string): Promise<void> =>
          ++statements < n ? tx.execute(statement) : Promise.reject(new Error('killed'));
        return work({ ...tx, execute });
      }),
  };
}
