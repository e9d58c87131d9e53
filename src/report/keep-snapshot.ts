import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { sql } from 'drizzle-orm';
import { createFaultLog } from '../lib/log/fault-log.ts';
import type { Logger } from '../lib/log/logger.ts';
import { repeat } from '../lib/log/repeat.ts';
import { errorCode, SyncError } from '../lib/sync-error.ts';
import { instantOf } from '../lib/time/clock.ts';
import type { Clock } from '../lib/time/clock.ts';
import { isIdle as hasNoRun } from '../mirror/runs/open-runs.ts';
import { isAway } from '../mirror/session/errors.ts';
import type { Session } from '../mirror/session/session.ts';
import { readTexts } from '../mirror/tables/rows.ts';
import { snapshotFile } from './output-file.ts';
import type { MirrorPlace } from './output-file.ts';

interface SnapshotParts {
  readonly session: Session;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly owner: { readonly isDead: (owner: string) => boolean };
  /** The arguments with which Node runs a command with the same settings. */
  readonly program: (command: readonly string[]) => readonly string[];
}

interface SnapshotSettings extends MirrorPlace {
  readonly bi: { readonly snapshotPath: string | null; readonly snapshotMinSeconds: number };
}

interface SnapshotState {
  /** When the last sweep of any kind ended; null = none has. */
  readonly sweptAt: Date | null;
  /** The same when the present snapshot was begun. */
  readonly takenOf: Date | null;
  /** When the last attempt began; null = there was none. */
  readonly triedAt: Date | null;
  /** Since when this process looks. */
  readonly startedAt: Date;
  /** No run is under way. */
  readonly isIdle: boolean;
  readonly minSeconds: number;
}

/**
 * Whether a snapshot is due: a sweep has ended since the last one, which is old enough. It waits for the end of a run, whose
 * kinds belong together, but not for ever.
 */
export function isSnapshotDue(state: SnapshotState, now: Date): boolean {
  const { sweptAt, takenOf, triedAt, startedAt, isIdle, minSeconds } = state;
  if (sweptAt === null || (takenOf !== null && sweptAt <= takenOf)) return false;
  const secondsSince = (then: Date): number => Math.abs(now.getTime() - then.getTime()) / 1000;
  if (triedAt !== null && secondsSince(triedAt) < minSeconds) return false;
  return isIdle || secondsSince(triedAt ?? startedAt) >= 2 * minSeconds;
}

const LOOK_MS = 1_000;

/**
 * Rewrites the snapshot that `bi.snapshotPath` names after sweeps, in a process of its own. Returns a function that stops it.
 *
 * @throws {UsageError} If the file cannot be replaced.
 */
export function startSnapshots(settings: SnapshotSettings, parts: SnapshotParts): () => Promise<void> {
  const { snapshotPath, snapshotMinSeconds: minSeconds } = settings.bi;
  if (snapshotPath === null) return () => Promise.resolve();
  const path = snapshotFile(settings, snapshotPath);
  const stop = new AbortController();
  const startedAt = parts.clock.now();
  let [takenOf, triedAt] = [writtenAt(path), writtenAt(path)];
  const task = async (): Promise<void> => {
    const now = parts.clock.now();
    const sweptAt = await lastSweep(parts.session);
    const isIdle = await hasNoRun(parts.session, { now, isDead: parts.owner.isDead });
    const state = { sweptAt, takenOf, triedAt, startedAt, isIdle, minSeconds };
    if (stop.signal.aborted || !isSnapshotDue(state, now)) return;
    triedAt = now;
    await takeInChild(parts, path, stop.signal);
    takenOf = sweptAt;
  };
  const faults = createFaultLog({ ...parts, isTold: isAway });
  const looking = repeat({ ...parts, faults, everyMs: LOOK_MS, name: 'writing the snapshot', task });
  return () => {
    stop.abort();
    return looking.stop();
  };
}

/** When the snapshot of an earlier process was written; null = there is none. */
function writtenAt(path: string): Date | null {
  try {
    return statSync(path).mtime;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return null;
  }
}

async function lastSweep(session: Session): Promise<Date | null> {
  const [latest] = await readTexts(session, sql`select max(last_sweep_at) from kind_state`);
  return latest === undefined ? null : instantOf(latest);
}

/** Copying a large SQLite mirror would block the event loop of this process for seconds. */
async function takeInChild(
  { logger, program }: SnapshotParts,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const child = spawn(process.execPath, program(['snapshot', path, '--json']), {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): void => void child.kill();
  signal.addEventListener('abort', kill, { once: true });
  try {
    const [said, , [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    if (code === 0) logger.info({ snapshot: JSON.parse(said) as unknown }, 'the snapshot was written');
    else if (!signal.aborted) throw snapshotFault(path, said);
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

/** The fault that the command reported in its `--json` document. */
function snapshotFault(path: string, said: string): SyncError {
  const { error } =
    said === '' ? { error: null } : (JSON.parse(said) as { error: { message: string; hint: string } | null });
  return new SyncError(
    `The snapshot ${path} was not written: ${error?.message ?? 'its process ended early'}`,
    {
      code: 'snapshot.not_written',
      ...(error !== null && { hint: error.hint }),
    },
  );
}
