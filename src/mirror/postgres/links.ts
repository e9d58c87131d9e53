import type { Connection } from './connection.ts';

/** A connection that is opened when it is first needed, and again after it was lost. */
export interface Link {
  connection(): Promise<Connection>;
  close(): Promise<void>;
}

export function createLink(open: () => Promise<Connection>): Link {
  let current: Connection | null = null;
  let isClosed = false;
  const drop = async (): Promise<void> => {
    const old = current;
    current = null;
    await old?.close();
  };
  return {
    connection: async () => {
      if (isClosed) throw new Error('This session is closed.');
      if (current?.isLost() === true) await drop();
      current ??= await open();
      return current;
    },
    close: async () => {
      isClosed = true;
      await drop();
    },
  };
}

/** A pool of connections, each used by one caller at a time; further callers wait in line. */
interface Links {
  use<T>(work: (link: Link) => Promise<T>): Promise<T>;
  /** Waits for the callers in line, then closes all connections. */
  close(): Promise<void>;
}

export function createLinks(links: readonly Link[]): Links {
  const free = [...links];
  const waiting: ((link: Link) => void)[] = [];

  const take = (): Promise<Link> => {
    const link = free.pop(); // The one used last, so that no more are opened than are needed concurrently.
    return link ? Promise.resolve(link) : new Promise((resolve) => waiting.push(resolve));
  };
  const giveBack = (link: Link): void => {
    const next = waiting.shift();
    if (next) next(link);
    else free.push(link);
  };
  const use = async <T>(work: (link: Link) => Promise<T>): Promise<T> => {
    const link = await take();
    try {
      return await work(link);
    } finally {
      giveBack(link);
    }
  };
  const close = async (): Promise<void> => {
    const all = await Promise.all(links.map(take));
    await Promise.all(all.map((link) => link.close()));
    all.forEach(giveBack); // Later callers get the error that the session is closed.
  };
  return { use, close };
}
