import { expect, test } from 'vitest';
import {
  createReopeningClient,
  type ClientOptions,
  type QueueClient,
} from '../../../src/runs/bullmq/queue-client.ts';
import { TIMINGS } from '../../../src/runs/engine/timings.ts';
import { fakeClock } from '../../support/fake-clock.ts';

function stage() {
  const clock = fakeClock();
  const opened: ClientOptions['onFault'][] = [];
  const closed: number[] = [];
  const logged: unknown[] = [];
  const open = (onFault: ClientOptions['onFault']): QueueClient => {
    const number = opened.push(onFault);
    const queue = {
      addBulk: () => Promise.resolve([]),
      exportPrometheusMetrics: () => Promise.resolve(''),
      close: () => {
        closed.push(number);
        return Promise.resolve();
      },
      on: () => undefined,
    };
    return { queue, worker: null, ready: Promise.resolve(), disconnect: () => undefined };
  };
  const faults = { failed: (_work: string, error: unknown): void => void logged.push(error) };
  const client = createReopeningClient('work', open, new Set(), { clock, timings: TIMINGS, faults });
  return { clock, opened, closed, logged, client };
}

test('is opened once, when first needed', () => {
  const { opened, client } = stage();
  expect(opened).toHaveLength(0);
  expect(client.get()).toBe(client.get());
  expect(opened).toHaveLength(1);
});

test('after a fatal fault is closed, and opened again after a while', async () => {
  const { clock, opened, closed, client } = stage();
  client.get();
  opened[0]?.(new Error('dead'), 'fatal');
  expect(closed).toEqual([1]);
  expect(client.get()).toBeNull();
  await clock.sleep(5_000);
  expect(client.get()).not.toBeNull();
});

test('a hundred faults within a second are a loop, and close it; spread over minutes they are not', async () => {
  const { clock, opened, closed, client } = stage();
  client.get();
  for (let i = 0; i < 500; i += 1) {
    opened[0]?.(new Error('away'));
    await clock.sleep(50);
  }
  expect(closed).toHaveLength(0);
  for (let i = 0; i < 500; i += 1) opened[0]?.(new Error('out of memory'));
  expect(closed).toHaveLength(1);
});

test('faults of a client that was closed are ignored', async () => {
  const { clock, opened, closed, logged, client } = stage();
  client.get();
  opened[0]?.(new Error('dead'), 'fatal');
  await clock.sleep(5_000);
  client.get();
  opened[0]?.(new Error('late'), 'fatal');
  expect([closed.length, logged.length]).toEqual([1, 1]);
});

test('after closing none is opened', async () => {
  const { opened, client } = stage();
  client.get();
  await client.close();
  expect(client.get()).toBeNull();
  expect(opened).toHaveLength(1);
});
