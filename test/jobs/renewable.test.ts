import { expect, test } from 'vitest';
import type { OnFault, QueueEnd } from '../../src/jobs/job-store.ts';
import { createRenewable } from '../../src/jobs/renewable.ts';
import { fakeClock } from '../support/fake-clock.ts';

function stage() {
  const clock = fakeClock();
  const opened: OnFault[] = [];
  const retired: QueueEnd[] = [];
  const logged: unknown[] = [];
  const renewable = createRenewable<QueueEnd>({
    clock,
    reopenMs: 5_000,
    open: (onFault) => {
      opened.push(onFault);
      return { close: () => Promise.resolve(), drop: () => undefined };
    },
    retire: (end) => {
      retired.push(end);
      return Promise.resolve();
    },
    onFault: (error) => logged.push(error),
  });
  return { clock, opened, retired, logged, renewable };
}

test('it is made once, when first needed', () => {
  const { opened, renewable } = stage();
  expect(opened).toHaveLength(0);
  expect(renewable.get()).toBe(renewable.get());
  expect(opened).toHaveLength(1);
});

test('one that broke is retired, and made anew after a while', async () => {
  const { clock, opened, retired, renewable } = stage();
  const first = renewable.get();
  opened[0]?.(new Error('dead'), 'fatal');
  expect(retired).toEqual([first]);
  expect(renewable.get()).toBeNull();
  await clock.sleep(5_000);
  expect(renewable.get()).not.toBeNull();
});

test('a hundred faults within a second are a loop, and end it; spread over minutes they are not', async () => {
  const { clock, opened, retired, renewable } = stage();
  renewable.get();
  for (let i = 0; i < 500; i += 1) {
    opened[0]?.(new Error('away'));
    await clock.sleep(50);
  }
  expect(retired).toHaveLength(0);
  for (let i = 0; i < 500; i += 1) opened[0]?.(new Error('out of memory'));
  expect(retired).toHaveLength(1);
});

test('faults of one that was retired are nobody’s concern', () => {
  const { opened, retired, logged, renewable } = stage();
  renewable.get();
  renewable.renew();
  renewable.get();
  opened[0]?.(new Error('late'), 'fatal');
  expect([retired.length, logged.length]).toEqual([1, 0]);
});

test('after closing none is made', async () => {
  const { opened, renewable } = stage();
  renewable.get();
  await renewable.close();
  expect(renewable.get()).toBeNull();
  expect(opened).toHaveLength(1);
});
