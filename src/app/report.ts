import { sql } from 'drizzle-orm';
import type { Config } from '../config/settings.ts';
import { SyncError } from '../lib/sync-error.ts';
import { readBlocks } from '../mirror/block-store.ts';
import type { WriteBlock } from '../mirror/block-store.ts';
import { readDrift } from '../mirror/drift-store.ts';
import type { Drift } from '../mirror/drift-store.ts';
import { countEntries } from '../mirror/outbox-store.ts';
import type { EntryState } from '../mirror/outbox-store.ts';
import { findRun, listRuns } from '../mirror/run-store.ts';
import type { KindReport, Run } from '../mirror/run-store.ts';
import type { Row } from '../mirror/session.ts';
import { countIssues, readStatus } from '../mirror/status-store.ts';
import type { IssueCount, KindStatus } from '../mirror/status-store.ts';
import { readFrozen } from '../outbound/frozen.ts';
import type { Frozen } from '../outbound/frozen.ts';
import { allKinds, listedKinds } from './kinds.ts';
import { openExistingMirror } from './open-mirror.ts';

export type { KindReport, Run } from '../mirror/run-store.ts';
export type { Row } from '../mirror/session.ts';

export interface Status {
  readonly database: string;
  readonly kinds: readonly KindStatus[];
  readonly issues: readonly IssueCount[];
  /** The latest changes in how the service answers, newest first. */
  readonly drift: readonly (Drift & { readonly seenAt: string })[];
  /** How many entries of the outbox are in each state. */
  readonly outbox: Readonly<Record<EntryState, number>>;
  /** Kinds that the service does not let us write. */
  readonly blockedKinds: readonly WriteBlock[];
  /** Why nothing is sent, though writes are on; null where sends are free. */
  readonly frozen: Frozen | null;
}

/** Reads how fresh and how sound the mirror is. */
export async function readMirrorStatus(config: Config): Promise<Status> {
  await using session = await openExistingMirror(config);
  return {
    database: session.location,
    kinds: inOrder(await readStatus(session), config),
    issues: await countIssues(session),
    drift: await readDrift(session, DRIFT_SHOWN),
    outbox: { ...EMPTY_OUTBOX, ...(await countEntries(session)) },
    blockedKinds: await readBlocks(session),
    frozen: await readFrozen(session),
  };
}

const EMPTY_OUTBOX = { ready: 0, sending: 0, unsettled: 0, parked: 0, rejected: 0, done: 0, abandoned: 0 };

/** A view has no order; people expect the catalogue's. */
function inOrder(statuses: readonly KindStatus[], config: Config): readonly KindStatus[] {
  const place = new Map(allKinds(config).map(({ name }, index) => [name, index]));
  return statuses.toSorted((a, b) => (place.get(a.kind) ?? 0) - (place.get(b.kind) ?? 0));
}

const DRIFT_SHOWN = 20;

/** Reads the latest runs, newest first. */
export async function readRuns(config: Config, limit: number): Promise<readonly Run[]> {
  await using session = await openExistingMirror(config);
  return await listRuns(session, limit);
}

/** Whether a run was of every kind that has a list. */
export function isOfAllKinds(config: Config, { kinds }: Run): boolean {
  return listedKinds(config).every(({ name }) => kinds.includes(name));
}

/**
 * Reads one run with its report of each kind.
 *
 * @throws {SyncError} `run.absent` where there is no such run.
 */
export async function readRun(
  config: Config,
  id: number,
): Promise<Run & { readonly reports: readonly KindReport[] }> {
  await using session = await openExistingMirror(config);
  const run = await findRun(session, id);
  if (run !== null) return run;
  throw new SyncError(`There is no run ${id}.`, {
    code: 'run.absent',
    hint: 'bms-sync runs lists those that are kept.',
  });
}

/** Asks the mirror one question in SQL, read-only. */
export async function queryMirror(config: Config, question: string): Promise<readonly Row[]> {
  await using session = await openExistingMirror(config);
  return await session.query(sql.raw(question));
}
