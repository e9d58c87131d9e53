import { sql } from 'drizzle-orm';
import { LISTED_KINDS, documentedKind } from '../../src/catalog/kinds/catalog.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import type { Row, Session } from '../../src/db/session/session.ts';
import {
  backfill,
  type BackfillReport,
  type BackfillRequest,
  type Extent,
} from '../../src/pull/sweep/backfill.ts';
import { THIS_PROCESS } from '../../src/lib/owner.ts';
import type { PullParts, ReadingRules } from '../../src/pull/parts.ts';
import { decideHold } from '../../src/store/records/hold-store.ts';
import type { KindReport } from '../../src/store/runs/run-store.ts';
import type { Sandbox, SandboxOptions } from '../../sandbox/sandbox.ts';
import type { Source } from '../../src/source/source.ts';
import { postgresMirror } from '../both/support.ts';
import { fakeClock, type FakeClock } from '../support/fake-clock.ts';
import {
  RULES,
  documentedMirror,
  logger,
  mirror,
  openSandboxSource,
  pullFrom,
  sandbox,
  type Address,
} from './support.ts';

/** A mirror of its own in either database, with the columns of all fields that the sandbox sends. */
export const MIRRORS = {
  SQLite: mirror,
  PostgreSQL: async (): Promise<Session> => (await postgresMirror()).session,
} as const;
/** The same with the columns of documented fields alone. */
export const DOCUMENTED_MIRRORS = {
  SQLite: documentedMirror,
  PostgreSQL: async (): Promise<Session> => (await postgresMirror('template_all_kinds')).session,
} as const;
export const DATABASES = ['SQLite', 'PostgreSQL'] as const;

/** Where only what stands above the session is shown, which knows no database. */
export const ONE_DATABASE = DATABASES.slice(0, 1);

/** Decides about what is held, as a person does. */
export const decideHeld = (
  session: Session,
  kind: string,
  decision: 'approved' | 'rejected',
  only?: string,
) => session.atomically((tx) => decideHold(tx, kind, decision, only));

/** Every grace in these tests has passed by the next quarter of an hour. */
export const NOON = Date.parse('2026-03-01T12:00:00Z');

/** A clock that stands so many minutes after noon. */
export function clockAt(minute: number): FakeClock {
  return fakeClock(new Date(NOON + minute * 60_000).toISOString());
}

/** So many minutes after noon, as the mirror writes it. */
export function instantAt(minute: number): string {
  return new Date(NOON + minute * 60_000).toISOString().replace('T', ' ').replace('Z', '');
}

export function kindsNamed(...names: readonly string[]): readonly ListedKind[] {
  return LISTED_KINDS.filter(({ name }) => names.includes(name));
}

export interface Step {
  readonly minute?: number;
  readonly kind: string;
  readonly rules?: Partial<ReadingRules>;
  readonly parts?: Partial<PullParts>;
  readonly baseUrl?: string;
  readonly acceptNewSource?: boolean;
}

/** Pulls one kind at a given minute; a minute is one instant, however long the pull takes. */
export async function pullOne(
  service: Address,
  session: Session,
  { minute = 0, kind, rules, parts, ...request }: Step,
): Promise<KindReport & { readonly runId: number }> {
  const { runId, kinds } = await pullFrom(service, session, {
    parts: { clock: clockAt(minute), ...parts },
    request: { kinds: kindsNamed(kind), ...rules, ...request },
  });
  const [report] = kinds;
  if (report === undefined) throw new Error(`${kind} was pulled`);
  return { ...report, runId };
}

/** A service, and a mirror that has pulled one of its kinds. */
export async function pulledOnce(kind: string, options: SandboxOptions = {}) {
  const service = await sandbox(options);
  const session = await mirror();
  await pullOne(service, session, { kind });
  return { service, session };
}

export interface Refill extends Step {
  readonly extent: Extent;
}

/** Reads again what an extent names. */
export async function backfillFrom(
  service: Sandbox,
  session: Session,
  { minute = 0, kind: name, extent, rules, parts, baseUrl = service.url }: Refill,
): Promise<BackfillReport> {
  const kind = documentedKind(name);
  const clock = clockAt(minute);
  if (kind === undefined) throw new Error(`There is no kind ${name}`);
  await using source = openSandboxSource(service, clock);
  const request: BackfillRequest = {
    kind,
    extent,
    baseUrl,
    request: JSON.stringify(extent),
    ...RULES,
    ...rules,
  };
  return await backfill({ session, source, clock, logger, owner: THIS_PROCESS, ...parts }, request);
}

export const ALL: Extent = { pages: { from: 1, to: Infinity } };

/** Every change event, oldest first. */
export function eventsOf(session: Session): Promise<Row[]> {
  return session.query(sql`
    select seq, kind, record_id, change, observed_from, observed_at, before, after, fields, origin, run_id
    from changes order by seq`);
}

/** Every change event in two words: which record, and what happened. */
export async function shortEvents(session: Session): Promise<string[]> {
  return (await eventsOf(session)).map(({ record_id, change }) => `${String(record_id)} ${String(change)}`);
}

/** What is noted of absences, in two words each. */
export async function absencesOf(session: Session): Promise<string[]> {
  const rows = await session.query(sql`
    select record_id, state, case when concluded_at is null then null else proof end as proof from deletions order by length(record_id), record_id`);
  return rows.map(({ record_id, state, proof }) => [record_id, state, proof ?? []].flat().join(' '));
}

export async function kindState(session: Session, kind: string): Promise<Row> {
  const [row] = await session.query(sql`
    select state, reason, owner, complete_sweeps, certified_at, baseline_at, control_failures, last_sweep_at
    from kind_state where kind = ${kind}`);
  return row ?? {};
}

export async function openIssueCodes(session: Session): Promise<string[]> {
  const rows = await session.query(sql`select code from issues where closed_at is null order by code`);
  return rows.map(({ code }) => String(code));
}

/** Paths and queries of a sandbox's requests since the last look. */
export function newRequests(service: Sandbox): () => string[] {
  let seen = service.requests.length;
  return () => {
    const fresh = service.requests.slice(seen).map(({ path, query }) => `${path}${query && `?${query}`}`);
    seen = service.requests.length;
    return fresh;
  };
}

/** A source that shows which pages were parsed. */
export function watched(
  service: Sandbox,
  minute = 0,
  source = openSandboxSource(service, clockAt(minute)),
): { source: Source; parsed: number[]; skipped: number[] } {
  const parsed: number[] = [];
  const skipped: number[] = [];
  const watching: Source = {
    ...source,
    async *sweep(kind, options) {
      for await (const response of source.sweep(kind, options)) {
        const read = (): ReturnType<typeof response.read> => {
          if (response.isUnchanged) parsed.push(response.page);
          return response.read();
        };
        (response.isUnchanged ? skipped : parsed).push(response.page);
        yield { ...response, read };
      }
    },
  };
  return { source: watching, parsed, skipped };
}

/** Takes the first records away; returns them as they were. */
export function removeFirst({ world }: Sandbox, kind: string, count: number) {
  const records = world
    .ids(kind)
    .slice(0, count)
    .map((id) => world.get(kind, id) ?? {});
  for (const { id } of records) world.remove(kind, Number(id));
  return records;
}
