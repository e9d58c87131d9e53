import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALONE, PROOF_FOLDERS, filesOf } from './tiers.ts';

const ROOT = join(import.meta.dirname, '../..');

test('every file that puts doubles in the place of modules has a worker of its own', () => {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`);
  const doubling = files.filter((path) =>
    /\bvi\.(?:doM|m)ock\(/.test(readFileSync(join(ROOT, path), 'utf8')),
  );
  expect(doubling.length).toBeGreaterThan(3);
  expect(doubling.filter((path) => !ALONE.includes(path))).toEqual([]);
  expect(ALONE.filter((path) => !files.includes(path))).toEqual([]);
});

test('tests and proofs have each file that must be alone in one of the two', () => {
  const [tests, proofs, any] = (['tests', 'proofs', null] as const).map(
    (tier) => filesOf(tier).alone.include,
  );
  expect([...(tests ?? []), ...(proofs ?? [])].toSorted()).toEqual(any?.toSorted());
  expect(proofs?.every((path) => PROOF_FOLDERS.some((folder) => path.startsWith(folder)))).toBe(true);
  for (const tier of ['tests', 'proofs', 'acceptance', null] as const)
    expect(filesOf(tier).shared.exclude).toEqual(expect.arrayContaining([...ALONE]));
});
