import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { createLogger } from '../../../src/lib/log/logger.ts';
import type { ToolAnswer } from '../../../src/features/mcp/answer.ts';
import { createSqlReader, type Caller, type ToolContext } from '../../../src/features/mcp/context.ts';
import { answerCall, TOOLS } from '../../../src/features/mcp/tools.ts';
import { migrate } from '../../../src/views/migrate.ts';
import { postgresMirror } from '../../both/support.ts';
import { openForTest } from '../../store/temp-mirror.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { freshRole } from '../../support/postgres.ts';
import { grownMirror } from '../../support/sqlite-templates.ts';

export const DATABASES = ['sqlite', 'postgres'] as const;
export type DatabaseName = (typeof DATABASES)[number];

/** A mirror that questions can be put to, with the role that may read its views. */
export interface AskableMirror {
  readonly session: Session;
  readonly url: string;
  readonly context: ToolContext;
  readonly role: string | null;
  /** Every line that was logged. */
  readonly log: Record<string, unknown>[];
  readonly ask: (
    tool: string,
    values?: Readonly<Record<string, unknown>>,
    caller?: Partial<Caller>,
  ) => Promise<ToolAnswer & Readonly<Record<string, unknown>>>;
}

/** A loaded machine may take the ten seconds of the tools for any question. */
const PATIENT_MS = 120_000;

/** @param limitMs How long a question may take; null = as long as the tools allow. */
export async function askableMirror(
  database: DatabaseName,
  parts: Partial<ToolContext> = {},
  limitMs: number | null = PATIENT_MS,
): Promise<AskableMirror> {
  const { session, url, role } = await openMirror(database);
  const readSql = createSqlReader(url, role);
  const log: Record<string, unknown>[] = [];
  const write = (line: string): void => void log.push(JSON.parse(line) as Record<string, unknown>);
  const context: ToolContext = {
    session,
    kinds: KINDS,
    clock: fakeClock(),
    logger: createLogger({ level: 'info', secrets: [], destination: { write } }),
    readSql: (question, gone) => readSql({ ...question, timeoutMs: limitMs ?? question.timeoutMs }, gone),
    readStale: () => Promise.resolve([]),
    timezone: 'UTC',
    ...parts,
  };
  const ask: AskableMirror['ask'] = async (name, values = {}, caller = {}) => {
    const tool = TOOLS.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    const who: Caller = {
      name: 'anna',
      role: 'admin',
      language: 'en',
      gone: new AbortController().signal,
      ...caller,
    };
    return { ...(await answerCall(context, who, tool, values)) };
  };
  return { session, url, role, context, log, ask };
}

async function openMirror(database: DatabaseName) {
  if (database === 'sqlite') {
    const path = await grownMirror();
    return { session: openForTest(path), url: `file:${path}`, role: null };
  }
  const { session, url } = await postgresMirror();
  const { name: role } = await freshRole(url);
  await migrate(session, KINDS, { readerRole: role });
  return { session, url, role };
}
