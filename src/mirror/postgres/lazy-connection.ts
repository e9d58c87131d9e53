import type { Connection } from './connection.ts';

/** A connection that is opened when it is first needed, and again after it was lost. */
export interface LazyConnection {
  connection(): Promise<Connection>;
  close(): Promise<void>;
}

export function createLazyConnection(open: () => Promise<Connection>): LazyConnection {
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
interface ConnectionPool {
  use<T>(work: (one: LazyConnection) => Promise<T>): Promise<T>;
  /** Waits for the callers in line, then closes all connections. */
  close(): Promise<void>;
}

export function createConnectionPool(connections: readonly LazyConnection[]): ConnectionPool {
  const free = [...connections];
  const waiting: ((one: LazyConnection) => void)[] = [];

  const take = (): Promise<LazyConnection> => {
    const one = free.pop(); // The one used last, so that no more are opened than are needed concurrently.
    return one ? Promise.resolve(one) : new Promise((resolve) => waiting.push(resolve));
  };
  const giveBack = (one: LazyConnection): void => {
    const next = waiting.shift();
    if (next) next(one);
    else free.push(one);
  };
  const use = async <T>(work: (one: LazyConnection) => Promise<T>): Promise<T> => {
    const one = await take();
    try {
      return await work(one);
    } finally {
      giveBack(one);
    }
  };
  const close = async (): Promise<void> => {
    const all = await Promise.all(connections.map(take));
    await Promise.all(all.map((one) => one.close()));
    all.forEach(giveBack); // Later callers get the error that the session is closed.
  };
  return { use, close };
}
