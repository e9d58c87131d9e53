import { expect, test } from 'vitest';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { ALL, playSeries, seedsFrom, tableOf } from './draws.ts';
import { openMirror } from './mirrors.ts';

const COUNT = 1_000;
const FROM = 1_000_001; // Others than those on SQLite.

test('histories on PostgreSQL break no promise', { timeout: 3_600_000 }, async () => {
  await using mirror = await openMirror(await freshDatabaseUrl());
  const command = 'test/world/postgres.test.ts';
  const tallies = await playSeries({ seeds: seedsFrom(FROM, COUNT), mirror, command });
  process.stdout.write(tableOf(tallies));
  expect(tallies.get(ALL)?.draws).toBe(COUNT);
});
