import { createHash } from 'node:crypto';
import { isRedis } from '../../checks/queue.ts';
import type { Config } from '../../config/settings.ts';
import { sqlitePath } from '../../mirror/open-session.ts';
import { createFileMark } from '../../outbound/freeze/file-mark.ts';
import type { SendMark } from '../../outbound/freeze/freeze.ts';

/** A mark that can be closed. */
export interface OpenMark extends SendMark {
  readonly close: () => void;
}

/** Opens the mark that every send leaves outside the database: in a file beside it, or in Redis if the settings name one. */
export async function openSendMark({ database, queue }: Config): Promise<OpenMark> {
  const { url } = database;
  const path = sqlitePath(url);
  if (path !== null) return createFileMark(`${path}.sends`);
  if (queue.url !== null && isRedis(queue.url)) {
    const { createRedisMark } = await import('../../outbound/freeze/redis-mark.ts'); // Its client is a third of what a pull takes to start.
    return createRedisMark(queue.url, nameOf(url));
  }
  return { read: () => Promise.resolve(0), write: () => Promise.resolve(), close: () => undefined };
}

/** Identifies a database regardless of the user; never contains a password. */
function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 16);
}
