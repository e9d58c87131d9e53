import type { SendCounter } from '../../src/outbound/freeze.ts';

/** A mark of the last send that lasts as long as its test. */
export function createSendCounter(): SendCounter {
  let sendCount = 0;
  return {
    read: () => Promise.resolve(sendCount),
    write: (sends) => {
      sendCount = Math.max(sendCount, sends);
      return Promise.resolve();
    },
  };
}
