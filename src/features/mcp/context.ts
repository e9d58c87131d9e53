import type { Kind } from '../../catalog/kind.ts';
import { sqlitePath } from '../../db/open-session.ts';
import type { MirrorContext } from '../../db/mirror-context.ts';
import type { Language } from '../../lib/text/translator.ts';
import type { StaleKind } from '../../needs/read-needs.ts';
import type { UserRole } from '../../store/users/user-store.ts';
import { readMirroredKind } from '../../store/kinds/field-store.ts';
import type { View } from '../../views/create-views.ts';
import { filterKindsWithRows, listViews } from '../../views/views.ts';
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
export interface Asker {
  readonly name: string;
  readonly role: UserRole;
  readonly language: Language;
}

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

/** The views of this mirror with their meaning; a user's own views are not among them. */
export async function readOwnViews({ session, kinds }: ToolContext): Promise<readonly View[]> {
  const shown = await filterKindsWithRows(session, kinds);
  const mirrored = await Promise.all(shown.map((kind) => readMirroredKind(session, kind)));
  const views = listViews(mirrored, session.dialect);
  return views.filter((view) => view.isInner !== true);
}

const OF_ALL_KINDS = ['bi_changes', 'bi_issues', 'bi_drift', 'bi_sync_status', 'bi_statuses'];

/**
 * The kinds whose records some views show; null = all that the service lists. Of the views of all kinds, a report shows those that its
 * text names, if it names any; of a stranger's select nobody knows.
 */
export function kindsOfViews(
  views: readonly string[],
  kinds: readonly Kind[],
  text = '',
): readonly string[] | null {
  const names = kinds.map((kind) => kind.name);
  const isOfAll = views.some((view) => OF_ALL_KINDS.includes(view));
  const named = isOfAll ? names.filter((name) => text.includes(`'${name}'`)) : [];
  if (isOfAll && named.length === 0) return null;
  return names.filter(
    (name) => named.includes(name) || views.some((view) => kindOfView(view, names) === name),
  );
}

const KIND_OF_VIEW: Readonly<Record<string, string>> = {
  client_contacts: 'clients',
  bi_price_changes: 'products',
  bi_purchase_statuses: 'purchases',
};

function kindOfView(view: string, kinds: readonly string[]): string | undefined {
  const table = KIND_OF_VIEW[view] ?? view.replace(/^bi_(?:deleted_)?/, '');
  const owners = kinds.filter((kind) => table === kind || table.startsWith(`${kind}_`));
  return owners.toSorted((a, b) => b.length - a.length)[0];
}
