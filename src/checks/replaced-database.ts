import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { repeatTask, type MirrorContext } from '../db/mirror-context.ts';
import { openFreshReader, sqlitePath } from '../db/open-session.ts';
import { isDatabaseUnavailable, MirrorError } from '../db/session/errors.ts';
import type { Session } from '../db/session/session.ts';
import { deleteMeta, readMeta, writeMeta } from '../store/kinds/meta.ts';

const POLL_MS = 60_000;

/**
 * Watches whether the address of a mirror still leads to the database that a session has open. A SQLite file that was replaced or
 * removed still accepts writes, but nothing reads them. While the address leads elsewhere, `session` refuses every write, so that
 * nothing is sent or promised.
 *
 * @param owner The name of this process in the mirror.
 */
export function watchReplacement(mirror: MirrorContext, url: string, owner: string) {
  const { session: opened, logger } = mirror;
  const path = sqlitePath(url);
  let inode = inodeOf(path);
  let fault: MirrorError | null = null;
  const checkNow = async (): Promise<void> => {
    const replacement = await findReplacement(opened, url, owner);
    if (replacement !== null && fault === null) {
      const { code, hint, message } = replacement;
      logger.error({ event: 'mirror.replaced', code, hint }, message);
    }
    fault = replacement;
  };
  const { stop } = repeatTask(mirror, 'looking whether the database was replaced', POLL_MS, checkNow);
  const session: Session = {
    ...opened,
    atomically: async (work) => {
      const present = inodeOf(path);
      if (present !== inode) await checkNow(); // On shared folders a number may change without a reason.
      inode = present;
      if (fault !== null) throw fault;
      return opened.atomically(work);
    },
  };
  return { session, [Symbol.asyncDispose]: stop };
}

/** The inode of the file at a path; null if there is none, or the database is on a server. */
const inodeOf = (path: string | null): number | null =>
  path === null ? null : (statSync(path, { throwIfNoEntry: false })?.ino ?? null);

/** Writes a random value through the session and looks for it through a new connection. */
async function findReplacement(opened: Session, url: string, owner: string): Promise<MirrorError | null> {
  const key = `alive.${owner}` as const;
  const value = randomUUID();
  try {
    await opened.atomically((tx) => writeMeta(tx, key, value));
    await using fresh = await openFreshReader(url);
    const isSame = (await readMeta(fresh, key)) === value;
    await opened.atomically((tx) => deleteMeta(tx, key));
    return isSame ? null : replacedError(opened);
  } catch (error) {
    if (isDatabaseUnavailable(error)) return null; // Others report an outage.
    if (error instanceof MirrorError && error.code === 'mirror.tables_missing') return error;
    return replacedError(opened, error);
  }
}

const replacedError = (session: Session, cause?: unknown): MirrorError =>
  new MirrorError(`The database ${session.location} was replaced or removed while bms-sync was running.`, {
    code: 'mirror.replaced',
    hint: 'Nothing is stored or sent until it is back. Stop bms-sync, restore the right database, then start bms-sync again.',
    cause,
  });
