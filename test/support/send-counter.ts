import type { SendCounter } from '../../src/outbound/freeze.ts';

/** A mark of the last send that lasts as long as its test. */
export function createSendCounter(mark = { sends: 0 }): SendCounter {
  return {
    read: () => Promise.resolve(mark.sends),
    write: (sends) => {
      mark.sends = Math.max(mark.sends, sends);
      return Promise.resolve();
    },
  };
}
