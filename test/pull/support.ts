import { sql } from 'drizzle-orm';
import { request } from 'undici';
import { onTestFinished } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { compactJson } from '../../src/lib/json/json.ts';
import { createLogger } from '../../src/lib/log/logger.ts';
import type { Row, Session } from '../../src/db/session/session.ts';
import { THIS_PROCESS } from '../../src/lib/owner.ts';
import type { PullParts } from '../../src/pull/parts.ts';
import { pullKinds, type PullReport, type PullRequest } from '../../src/pull/sweep/pull-kinds.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/sandbox.ts';
import { openSource, type Source } from '../../src/source/source.ts';
import type { Clock } from '../../src/lib/time/clock.ts';
import { openForTest, tempMirror } from '../store/temp-mirror.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { KEEP_ALL } from '../support/retention.ts';
import { send, serve } from '../support/serve.ts';
import { SOURCE_SETTINGS } from '../support/source-settings.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { steppedTransaction } from '../support/stepped-transaction.ts';

export const logger = createLogger({ level: 'silent', secrets: [], destination: process.stderr });

export async function sandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const started = await startSandbox({ size: 60, ...options });
  onTestFinished(() => started.close());
  return started;
}

/** A mirror in a file of its own that has the columns of all fields that the sandbox sends. */
export const mirror = async (): Promise<Session> => openForTest(await grownMirror());

/** The same with the columns of documented fields alone: a first pull discovers the others. */
export const documentedMirror = (): Promise<Session> => tempMirror();

/** The settings that a pull goes by where nothing is set. */
export const RULES = {
  deletions: { graceSeconds: 900, holdAbove: { rows: 5, share: 0.02 } },
  repeatBelowPages: 20,
  ignoreFields: {},
  retention: { ...KEEP_ALL, runsDays: 30 },
} as const;

export interface Pulling {
  readonly parts?: Partial<PullParts>;
  readonly request?: Partial<PullRequest>;
}

/** Where a service is, and what lets in: a sandbox, or whatever stands in its place. */
export type Address = Pick<Sandbox, 'url' | 'token'>;

/** The client of a sandbox. */
export function openSandboxSource({ url, token }: Address, clock: Clock): Source {
  return openSource({ ...SOURCE_SETTINGS, baseUrl: url, token }, { clock, logger });
}

/** Pulls everything from a sandbox, with a clock that skips waits. */
export async function pullFrom(
  service: Address,
  session: Session,
  { parts, request: asked }: Pulling = {},
): Promise<PullReport> {
  const clock = parts?.clock ?? fakeClock();
  await using source = openSandboxSource(service, clock);
  return await pullKinds(
    { session, source, clock, logger, owner: THIS_PROCESS, ...parts },
    { kinds: LISTED_KINDS, baseUrl: service.url, acceptNewSource: false, ...RULES, ...asked },
  );
}

/** Every row of a kind's table, in the order of ids. */
export function rowsOf(session: Session, kind: string): Promise<Row[]> {
  return session.query(
    sql`select k.*, cast(k.id as text) as id from ${sql.identifier(kind)} as k order by k.id`,
  );
}

/** The ids of a kind's rows that are not deleted, in order. */
export async function liveIds(session: Session, kind: string): Promise<string[]> {
  const rows = await rowsOf(session, kind);
  return rows.filter((row) => row['_deleted_at'] === null).map((row) => String(row['id']));
}

/** The mirror's rows of every kind as the service would send them. */
export async function contentOf(session: Session): Promise<Record<string, string[]>> {
  const content: Record<string, string[]> = {};
  for (const { name } of LISTED_KINDS)
    content[name] = (await rowsOf(session, name)).map((row) => String(row['_raw']));
  return content;
}

/** The service's records of every kind, in the order of ids. */
export function truthOf({ world }: Sandbox): Record<string, string[]> {
  const byId = (kind: string): number[] => [...world.ids(kind)].sort((a, b) => a - b);
  return Object.fromEntries(
    LISTED_KINDS.map(({ name }) => [name, byId(name).map((id) => compactJson(world.get(name, id) ?? null))]),
  );
}

/** The same service with its answers rewritten on the way: what no sandbox would send. */
export async function rewriting(
  service: Sandbox,
  rewrite: (body: string, path: string) => string,
): Promise<Sandbox> {
  const url = await serve((incoming, answer) => {
    const path = incoming.url ?? '';
    const headers = { authorization: `Bearer ${service.token}` };
    void request(service.url + path, { headers }).then(async ({ statusCode, body }) => {
      send(answer, rewrite(await body.text(), path), statusCode);
    });
  });
  return { ...service, url };
}

export class Crash extends Error {}

/** The same session, whose nth operation from now fails, and every later one: the process is gone. */
export function dyingAt(session: Session, n: number): Session {
  let operations = 0;
  const step = <T>(work: () => Promise<T>): Promise<T> =>
    ++operations < n ? work() : Promise.reject(new Crash());
  return {
    ...session,
    query: (statement) => step(() => session.query(statement)),
    atomically: (work) => step(() => session.atomically((tx) => work(steppedTransaction(tx, step)))),
  };
}
