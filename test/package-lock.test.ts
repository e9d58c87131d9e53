import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface LockedPackage {
  optionalDependencies?: Record<string, string>;
}

const LOCK = JSON.parse(readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8')) as {
  packages: Record<string, LockedPackage>;
};

// `npm ci` refuses a lock that lacks the packages of another platform, once its cache is cold.
test('the lock file names every optional dependency of every platform', () => {
  const missing = Object.entries(LOCK.packages).flatMap(([path, { optionalDependencies }]) =>
    Object.keys(optionalDependencies ?? {}).filter(
      (name) =>
        !(`node_modules/${name}` in LOCK.packages) && !(`${path}/node_modules/${name}` in LOCK.packages),
    ),
  );

  expect(missing).toEqual([]);
});
