import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJob } from '../../../src/jobs/bullmq/queue-client.ts';

test('a job is two numbers', () => {
  expect(readJob({ name: 'work', data: { id: 5, epoch: 0 } })).toEqual({ id: 5, epoch: 0 });
});

test.each([
  [{ id: '5', epoch: 0 }],
  [{ id: 5 }],
  [{ id: 0, epoch: 0 }],
  [{ id: 5, epoch: -1 }],
  [{ id: 5.5, epoch: 0 }],
  [{ id: 2 ** 53, epoch: 0 }],
  [{ id: 5, epoch: 0, url: 'http://elsewhere' }],
  [[5, 0]],
  [null],
  ['5'],
])('F11 a job with other data is none of ours: %j', (data) => {
  expect(readJob({ name: 'work', data })).toBeNull();
});

test('F16 a job of another name is none of ours', () => {
  expect(readJob({ name: 'ring2', data: { id: 5, epoch: 0 } })).toBeNull();
});

test('F11 whatever is read holds a name and two numbers and nothing else', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (name, data) => {
      const job = readJob({ name, data });
      if (job !== null) expect(Object.keys(job).sort()).toEqual(['epoch', 'id', 'name']);
    }),
  );
});
