import { expect, test } from 'vitest';
import { playSeries } from './draws.ts';
import { openMirror } from './mirrors.ts';

const SHARE = 60;

test('histories with services of many personalities break no promise', { timeout: 300_000 }, async () => {
  await using mirror = await openMirror(null);
  const command = 'test/world/share.test.ts';
  const tallies = await playSeries({ from: 1, count: SHARE, mirror, command });
  expect(tallies.size).toBeGreaterThan(10);
});
