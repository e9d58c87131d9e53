import { expect, test } from 'vitest';
import { playSeries } from './draws.ts';
import { playHistory } from './history.ts';
import { openMirror } from './mirrors.ts';

const SHARE = 60;

test('histories with services of many personalities break no promise', { timeout: 300_000 }, async () => {
  await using mirror = await openMirror(null);
  const command = 'test/world/share.test.ts';
  const tallies = await playSeries({ from: 1, count: SHARE, mirror, command });
  expect(tallies.size).toBeGreaterThan(10);
});

test('a seed gives the same history every time', async () => {
  await using mirror = await openMirror(null);
  const play = async (seed: number) => {
    const { pulls, changes } = await playHistory(seed, {
      session: await mirror.blank(),
      tables: mirror.tables,
    });
    return { changes, pulls: pulls.map(({ fromMs, toMs, states }) => ({ fromMs, toMs, states })) };
  };
  for (const seed of [3, 11, 14]) expect(await play(seed)).toEqual(await play(seed));
});
