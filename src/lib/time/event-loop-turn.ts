import { setImmediate as nextTurn } from 'node:timers/promises';

let latest: Promise<unknown> = Promise.resolve();

/**
 * Resolves in its own turn of the event loop, which no other waiter shares. Node runs all calls of `setImmediate`
 * together: four answers that wait by one each would be parsed in a row, with no I/O between.
 */
export function ownEventLoopTurn(): Promise<unknown> {
  latest = latest.then(() => nextTurn());
  return latest;
}
