import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { THIS_PROCESS, hasEnded } from '../../src/lib/owner.ts';

const [host = '', , place = ''] = THIS_PROCESS.split(':');

test('a process has not ended to itself, nor to a living neighbour', () => {
  expect(hasEnded(THIS_PROCESS)).toBe(false);
  expect(hasEnded(`${host}:${process.ppid}:${place}:x`)).toBe(false);
});

test('a process of this place that has ended is known', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  expect(hasEnded(`${host}:${child.pid ?? 0}:${place}:x`)).toBe(true);
});

test('a predecessor with our own process number has ended', () => {
  expect(hasEnded(`${host}:${process.pid}:${place}:earlier`)).toBe(true);
});

test('nothing is known of a process of another place, though host name and process number are the same', () => {
  const elsewhere = place.replace(/./g, (digit) => (digit === '0' ? '1' : '0'));
  for (const pid of [1, process.pid, 2 ** 22 + 1])
    for (const rest of [`:${elsewhere}:x`, ':unknown:x', ':x'])
      // An earlier release names no place.
      expect(hasEnded(`${host}:${pid}${rest}`), `${pid}${rest}`).toBe(false);
});
