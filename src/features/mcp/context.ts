import * as z from 'zod';
import type { Kind } from '../../catalog/kind.ts';
import { sqlitePath } from '../../db/open-session.ts';
import type { MirrorContext } from '../../db/mirror-context.ts';
import { LANGUAGES } from '../../lib/text/translator.ts';
import type { StaleKind } from '../../needs/read-needs.ts';
import { USER_ROLES } from '../../store/users/user-store.ts';
import type { SqlAnswer, SqlQuestion } from './sql/question.ts';
import { createTurns } from './sql/turns.ts';

/** Answers selects over the mirror. */
type SqlReader = (question: SqlQuestion, caller: Pick<Caller, 'name' | 'gone'>) => Promise<SqlAnswer>;

/** The parts that the tools work with. */
export interface ToolContext extends MirrorContext {
  readonly kinds: readonly Kind[];
  readonly readSql: SqlReader;
  readonly readStale: () => Promise<readonly StaleKind[]>;
  /** The zone of instants that name none: the setting `schedules.timezone`. */
  readonly timezone: string;
}

/** Who asks, and in which language. */
export const asker = z.object({ name: z.string(), role: z.enum(USER_ROLES), language: z.enum(LANGUAGES) });
export type Asker = Readonly<z.output<typeof asker>>;

/** Who waits for an answer. */
export interface Caller extends Asker {
  /** Fires when nobody waits any more. */
  readonly gone: AbortSignal;
}

/**
 * Creates the reader of a mirror. Our own selects, those of the reports, do not wait behind the questions of assistants.
 *
 * @param readerRole The setting `bi.readerRole`.
 */
export function createSqlReader(url: string, readerRole: string | null): SqlReader {
  const path = sqlitePath(url);
  const [takeTurn, takeReportTurn] = [createTurns(), createTurns()];
  const read = async (question: SqlQuestion, ended: AbortSignal): Promise<SqlAnswer> =>
    path === null
      ? (await import('./sql/postgres.ts')).readPostgres(url, readerRole, question, ended)
      : (await import('./sql/sqlite.ts')).readSqlite(path, question, ended);
  return (question, { name, gone }) => {
    const take = question.views === null ? takeReportTurn : takeTurn;
    return take(name, { gone, timeoutMs: question.timeoutMs }, (ended) => read(question, ended));
  };
}
