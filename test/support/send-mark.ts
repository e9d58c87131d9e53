import type { SendMark } from '../../src/outbound/freeze.ts';

/** A mark of the last send that lasts as long as its test. */
export function createMark(): SendMark {
  let marked = 0;
  return {
    read: () => Promise.resolve(marked),
    write: (sends) => {
      marked = Math.max(marked, sends);
      return Promise.resolve();
    },
  };
}
