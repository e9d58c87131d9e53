import { accessSync, constants, existsSync, statSync, statfsSync, type StatsFs } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { failedCheck, passedCheck, type CheckResult } from '../lib/check-result.ts';
import { errorCode } from '../lib/sync-error.ts';
import { repeatTask, type ProcessContext } from '../db/mirror-context.ts';
import { isIdle } from '../store/runs/open-runs.ts';
import type { Session } from '../db/session/session.ts';
import { parseInstant } from '../lib/time/clock.ts';
import { DAY_MS } from '../lib/time/zone-offset.ts';
import { addNotification } from '../store/notifications/notifications.ts';
import { checkIntegrity, damageOf, readFileCheck, saveCheck } from '../store/integrity-check.ts';

/** Checks whether the first pull can create a mirror at a path; creates nothing. */
export function checkAbsentFile(path: string): readonly CheckResult[] {
  const folder = nearestFolder(dirname(resolve(path)));
  const disk = statfsSync(folder);
  const detail = `no mirror at ${path}, and this user may not create one in ${folder}`;
  const hint = 'Set DATABASE_URL to a path that this user may write, or grant this user the right.';
  const place = canWriteIn(folder)
    ? passedCheck('database', `no mirror at ${path} yet; the first pull creates it`)
    : failedCheck('database', 'mirror.not_writable', detail, hint);
  return [place, checkSpace(0, disk), ...checkNetworkDisk(disk)];
}

/** The folder, or the nearest one above it that exists. */
function nearestFolder(folder: string): string {
  return existsSync(folder) ? folder : nearestFolder(dirname(folder));
}

function canWriteIn(folder: string): boolean {
  if (!statSync(folder).isDirectory()) return false;
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    if (errorCode(error) !== '') return false;
    throw error;
  }
}

/** Checks the free space beside the file of a mirror, and whether SQLite finds it sound. */
export async function checkFile(session: Session): Promise<readonly CheckResult[]> {
  const disk = statfsSync(dirname(session.location));
  const files = ['', '-wal', '-shm'].map((end) =>
    statSync(`${session.location}${end}`, { throwIfNoEntry: false }),
  );
  const space = checkSpace(
    files.reduce((sum, file) => sum + (file?.size ?? 0), 0),
    disk,
  );
  const name = 'database.integrity';
  const findings = await checkIntegrity(session);
  const integrity =
    findings.length === 0
      ? passedCheck(name, 'SQLite finds the file sound')
      : failedCheck(name, 'mirror.damaged', findings.join('; '), DAMAGE_HINT);
  return [space, integrity, ...checkNetworkDisk(disk)];
}

/** Bytes in a megabyte. */
const MB = 2 ** 20;

/** A disk of `statfs`. Some make inodes as they are needed, and name 0 of 0. */
type Disk = Pick<StatsFs, 'bavail' | 'bsize' | 'files' | 'ffree' | 'type'>;

/** Whether a mirror in a file of so many bytes has the free space that a sweep, a migration or a backup beside it may need. */
export function checkSpace(size: number, { bavail, bsize, files, ffree }: Disk): CheckResult {
  const name = 'database.space';
  const free = bavail * bsize;
  const hasInodes = files === 0 || ffree > 0;
  const room = hasInodes
    ? `${megabytes(free)} free`
    : 'no inode free: the disk holds as many files as it can';
  const detail = `${megabytes(size)} in use, ${room}`;
  const hint =
    'Free space on this disk, or move the mirror. A full disk stops pulls and pushes but loses nothing.';
  const isEnough = hasInodes && free >= Math.max(256 * MB, size / 2);
  return isEnough ? passedCheck(name, detail) : failedCheck(name, 'mirror.little_space', detail, hint);
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / MB)} MB`;

/** The numbers that Linux gives to file systems of a network: NFS, SMB (three), 9P, Ceph, FUSE. */
const NETWORK_DISKS: readonly number[] = [
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x00c36400, 0x65735546,
];

/** Passes: some of them lock well enough. */
const checkNetworkDisk = ({ type }: Disk): readonly CheckResult[] =>
  NETWORK_DISKS.includes(type)
    ? [
        {
          ...passedCheck('database.disk', 'the file lies on a network drive, whose locks may not hold'),
          hint: 'Keep the mirror on a local disk, or set DATABASE_URL to a PostgreSQL server.',
        },
      ]
    : [];

/** Advice for a file that a check found damaged. */
const DAMAGE_HINT =
  'Stop every process that uses it and restore it from a copy, or move it away and pull into a new one.';

const POLL_MS = 60_000;

/** Checks the file of a SQLite mirror once a day, when nothing else is under way. Returns a function that stops it. */
export function startDailyCheck(mirror: ProcessContext): () => Promise<void> {
  if (mirror.session.dialect !== 'sqlite') return () => Promise.resolve();
  const task = (signal: AbortSignal): Promise<void> => checkWhenDue(mirror, signal);
  return repeatTask(mirror, 'checking the database file', POLL_MS, task).stop;
}

/** Checks the file if the last check is a day old and nothing is under way; logs and stores the result. */
export async function checkWhenDue(context: ProcessContext, signal?: AbortSignal): Promise<void> {
  const { session, clock, logger } = context;
  const now = clock.now();
  const last = await readFileCheck(session);
  if (last !== null && Math.abs(now.getTime() - parseInstant(last.checkedAt).getTime()) < DAY_MS) return;
  if (!(await isIdle(session))) return;
  const findings = await checkIntegrity(session, signal);
  const reason = damageOf(findings);
  if (findings.length > 0) logger.error({ mirror: session.location, findings, hint: DAMAGE_HINT }, reason);
  else logger.info({ mirror: session.location }, 'the database file is sound');
  await session.atomically(async (tx) => {
    await saveCheck(tx, findings, now);
    if (findings.length > 0)
      await addNotification(tx, { type: 'mirror.damaged', facts: { reason }, key: reason, now });
  });
}
