import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { createOwner } from '../../../src/pull/run/parts.ts';

test('a process is not dead to itself, nor to a living neighbour', () => {
  const owner = createOwner();
  expect(owner.isDead(owner.name)).toBe(false);
  expect(owner.isDead(`${hostname()}:${process.ppid}:x`)).toBe(false);
});

test('a process of this host that has ended is dead', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  expect(createOwner().isDead(`${hostname()}:${child.pid ?? 0}:x`)).toBe(true);
});

test('a predecessor with our own process number is dead: a container starts at the same number each time', () => {
  expect(createOwner().isDead(`${hostname()}:${process.pid}:earlier`)).toBe(true);
});

test('nothing is known of a process of another host', () => {
  expect(createOwner().isDead(`elsewhere-${hostname()}:1:x`)).toBe(false);
});
