import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { repeatTask, type MirrorContext } from '../db/mirror-context.ts';
import { absentFile, openFreshReader, sqlitePath } from '../db/open-session.ts';
import { createSerialQueue } from '../lib/serial-queue.ts';
import { MirrorError } from '../db/session/errors.ts';
import type { Session } from '../db/session/session.ts';
import { deleteMeta, readMeta, writeMeta } from '../store/kinds/meta.ts';

const POLL_MS = 60_000;

/**
 * Watches whether the address of a mirror still leads to the database that a session has open. A SQLite file that was replaced or
 * removed still accepts writes, but nothing reads them. While the address leads elsewhere, `session` refuses every write and read, so
 * that nothing is sent or promised, and no page shows the old file as the mirror.
 *
 * @param owner The name of this process in the mirror.
 */
export function watchReplacement(mirror: MirrorContext, url: string, owner: string) {
  const { session: opened, logger } = mirror;
  const path = sqlitePath(url);
  let inode = inodeOf(path);
  let fault: MirrorError | null = null;
  const check = async (): Promise<void> => {
    const replacement = await findReplacement(opened, url, owner);
    if (replacement !== null && fault?.code !== replacement.code) {
      const { code, hint, message } = replacement;
      logger.error({ event: 'mirror.replaced', code, hint }, message);
    }
    fault = replacement;
  };
  const enqueue = createSerialQueue(); // Two at once would overwrite each other's value.
  const checkNow = (): Promise<void> => enqueue(check);
  const { stop } = repeatTask(mirror, 'looking whether the database was replaced', POLL_MS, checkNow);
  const refuseReplaced = async (): Promise<void> => {
    const present = inodeOf(path);
    if (present !== inode) await checkNow(); // On shared folders a number may change without a reason.
    inode = present;
    if (fault !== null) throw fault;
  };
  const session: Session = {
    ...opened,
    query: (statement) => refuseReplaced().then(() => opened.query(statement)),
    atomically: (work) => refuseReplaced().then(() => opened.atomically(work)),
  };
  return { session, [Symbol.asyncDispose]: stop };
}

/** The inode of the file at a path; null if there is none, or the database is on a server. */
const inodeOf = (path: string | null): number | null =>
  path === null ? null : (statSync(path, { throwIfNoEntry: false })?.ino ?? null);

/**
 * Writes a random value through the session and looks for it through a new connection. Only another content proves a replacement.
 * @throws {MirrorError} What the database itself answers, such as that its disk is full: it may be the right one.
 */
async function findReplacement(opened: Session, url: string, owner: string): Promise<MirrorError | null> {
  if (absentFile(url) !== null) return goneError(opened.location);
  const key = `alive.${owner}` as const;
  const value = randomUUID();
  await opened.atomically((tx) => writeMeta(tx, key, value));
  await using fresh = await openFreshReader(url);
  const isSame = (await readMeta(fresh, key)) === value;
  await opened.atomically((tx) => deleteMeta(tx, key));
  return isSame ? null : replacedError(opened.location);
}

const replacedError = (location: string): MirrorError =>
  new MirrorError(`The database ${location} was replaced while bms-sync was running.`, {
    code: 'mirror.replaced',
    hint: 'Nothing is stored or sent until it is back. Stop bms-sync, restore the right database, then start bms-sync again.',
  });

const goneError = (location: string): MirrorError =>
  new MirrorError(
    `There is no file ${location} any more: it was removed, or the disk that holds it is not mounted.`,
    {
      code: 'mirror.absent',
      hint: 'Nothing is stored or sent until it is back. Mount the disk; if the file was removed, stop bms-sync and restore it.',
    },
  );
