import { join } from 'node:path';
import { expect, test } from 'vitest';
import { proofsHash, provedFiles } from '../../scripts/proofs/hash.ts';
import { planCheck, readLock, writeLock, type ProofsLock } from '../../scripts/proofs/lock.ts';
import { tempFolder } from '../support/temp-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = [
  { path: 'src/diff/match.ts', text: 'one' },
  { path: 'test/world/lies.test.ts', text: 'two' },
];
const HASH = proofsHash(FILES, 'v20.20.2');
const LOCK: ProofsLock = { hash: HASH, node: 'v20.20.2', files: 18, seconds: 400, date: '2026-03-01' };

test('the hash of the proved code is the same in whatever order the files are read', () => {
  expect(proofsHash(FILES.toReversed(), 'v20.20.2')).toBe(HASH);
});

test.each([
  ['a text', [{ path: 'src/diff/match.ts', text: 'one!' }, ...FILES.slice(1)], 'v20.20.2'],
  ['a path', [{ path: 'src/diff/merge-update.ts', text: 'one' }, ...FILES.slice(1)], 'v20.20.2'],
  ['a further file', [...FILES, { path: 'src/diff/new.ts', text: '' }], 'v20.20.2'],
  ['a missing file', FILES.slice(1), 'v20.20.2'],
  ['texts that changed places', swapped(), 'v20.20.2'],
  ["Node's version", FILES, 'v22.0.0'],
])('the hash of the proved code changes with %s', (_, files, node) => {
  expect(proofsHash(files, node)).not.toBe(HASH);
});

function swapped(): typeof FILES {
  const texts = FILES.map(({ text }) => text).reverse();
  return FILES.map(({ path }, at) => ({ path, text: texts[at] ?? '' }));
}

test('all proofs run in continuous integration where there is no lock, or one of other code', () => {
  expect(planCheck(null, HASH, 0.5)).toMatchObject({ run: 'all' });
  expect(planCheck(LOCK, proofsHash([], 'v20.20.2'), 0.5)).toMatchObject({ run: 'all' });
});

test('a tenth of the proofs runs in continuous integration where the lock is of this code, each tenth in its turn', () => {
  const drawn = Array.from({ length: 10 }, (_, i) => planCheck(LOCK, HASH, i / 10));
  expect(drawn).toEqual(drawn.map((_, i) => ({ run: 'shard', shard: i + 1 })));
  expect(planCheck(LOCK, HASH, 1 - Number.EPSILON)).toEqual({ run: 'shard', shard: 10 });
});

test('a lock is read as it was written, and none is there before', () => {
  const path = join(tempFolder(), 'proofs.lock');
  expect(readLock(path)).toBe(null);
  writeLock(path, LOCK);
  expect(readLock(path)).toEqual(LOCK);
});

test('whatever the proofs import is part of the hash', () => {
  const proved = provedFiles(ROOT).map(({ path }) => path);
  expect(proved).toEqual(expect.arrayContaining(['test/pull/crash.test.ts', 'test/pull/support.ts']));
  expect(proved).toEqual(
    expect.arrayContaining(['src/store/records/stored-rows.ts', 'src/features/verify/verify-kinds.ts']),
  );
  expect(proved).not.toContain('test/pull/sweep/backfill.test.ts');
});
