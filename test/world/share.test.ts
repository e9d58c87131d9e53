import { expect, test } from 'vitest';
import { playSeries, seedsFrom } from './draws.ts';
import { playHistory } from './history.ts';
import { openMirror } from './mirrors.ts';

/** All of them are among the proofs (`first-half`). */
const SHARE = 6;

/** Histories that once broke a promise. */
const NAMED = {
  'another person writes nearly what an update wants, which an intermediary refuses': 3_182,
  'another person renames the record that a create made, before it could be recognised': 9_858,
  'a record that we create long before the baseline is news all the same': 4_161,
  'page 1, full by its own word, comes again whatever page is asked for': 3_375,
  'no list shows a record of ours, of which the answer showed another key': 5_627,
  'a list lacks a row before we have created any': 2_529,
  'a cached page shows a deleted row in place of one that the reader has missed': 5_302,
  'another person writes what our update asks for, which a replica shows late': 6_320,
  'a database forgets a send to a service that alters keys': 3_799,
  'the first list under another user’s token is certified by one under the first': 8_348,
};

test('histories with services of many personalities break no promise', async () => {
  await using mirror = await openMirror(null);
  const command = 'test/world/share.test.ts';
  const seeds = [...seedsFrom(1, SHARE), ...Object.values(NAMED)];
  const tallies = await playSeries({ seeds, mirror, command });
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
