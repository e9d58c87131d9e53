import { expect, test } from 'vitest';
import { createFaultLog } from '../../../src/lib/log/fault-log.ts';
import { canary } from '../../support/canary.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../runs/engine/support.ts';

function stage() {
  const clock = fakeClock();
  const log = memoryLog();
  return { clock, log, faults: createFaultLog(log.logger, clock) };
}

const refused = (): Error => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });

test('a fault that comes again and again is logged once a minute, with its number', async () => {
  const { clock, log, faults } = stage();
  for (let second = 0; second < 61; second += 1) {
    faults('notifying', refused());
    await clock.sleep(1_000);
  }
  expect(log.lines.map(({ msg, more }) => [msg, more])).toEqual([
    ['notifying failed', 0],
    ['notifying failed', 59],
  ]);
});

test('another fault, or the same at other work, is logged at once', () => {
  const { log, faults } = stage();
  faults('notifying', refused());
  faults('notifying', new TypeError('a bug'));
  faults('looking', refused());
  expect(log.lines).toHaveLength(3);
});

test('J08 what hangs on an error is not logged, nor on its cause: it may be the command with the password', () => {
  const { log, faults } = stage();
  const inner = Object.assign(new Error('WRONGPASS'), { command: { name: 'auth', args: [canary('')] } });
  faults('notifying', Object.assign(new Error('no', { cause: inner }), { command: { args: [canary('')] } }));
  expect(JSON.stringify(log.lines)).not.toContain(canary(''));
  expect(JSON.stringify(log.lines)).toContain('WRONGPASS');
});
