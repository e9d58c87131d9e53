import { expect, test } from 'vitest';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { ALL, playSeries, seedsFrom, tableOf, type Tallies } from './draws.ts';
import { openMirror } from './mirrors.ts';

const COUNT = 1_000;
const FROM = 1_000_001; // Others than those on SQLite.

/** Of a database that is made and emptied over and over, the catalogue alone grows, and each query slower. */
const A_DATABASE = 100;

/** Nobody analyses tables that are emptied every second: taken for empty, they are joined row by row. */
const BY_INDEX = '?options=-c%20enable_seqscan%3Doff';

const tallies: Tallies = new Map();
const firsts = seedsFrom(0, COUNT / A_DATABASE).map((at) => FROM + at * A_DATABASE);

test.each(firsts)('the histories from %s on break no promise', { timeout: 3_600_000 }, async (first) => {
  await using mirror = await openMirror(`${await freshDatabaseUrl()}${BY_INDEX}`);
  const seeds = seedsFrom(first, A_DATABASE);
  await playSeries({ seeds, mirror, command: 'test/world/postgres.test.ts' }, tallies);
});

test('they are a thousand on PostgreSQL', () => {
  process.stdout.write(tableOf(tallies));
  expect(tallies.get(ALL)?.draws).toBe(COUNT);
});
