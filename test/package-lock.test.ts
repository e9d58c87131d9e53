import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface LockedPackage {
  os?: string;
  cpu?: string;
  dev?: true;
  link?: true;
  resolved?: string;
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

test('it has a Node for the usual platforms, which no production installation takes', () => {
  const nodes = Object.keys(LOCK.packages['scripts/node']?.optionalDependencies ?? {}).map(
    (name) => LOCK.packages[`node_modules/${name}`],
  );
  expect(nodes.map((node) => `${node?.os ?? ''}-${node?.cpu ?? ''}`).toSorted()).toEqual([
    'darwin-arm64',
    'darwin-x64',
    'linux-arm64',
    'linux-x64',
    'win32-x64',
  ]);
  expect(nodes.filter((node) => node?.dev !== true)).toEqual([]);
});

test('it names no registry, so that each user has his own', () => {
  const named = Object.values(LOCK.packages).filter(
    ({ link, resolved }) => resolved !== undefined && link !== true,
  );
  expect(named).toEqual([]);
});

test('no package runs code at its installation', () => {
  expect(readFileSync(join(import.meta.dirname, '../.npmrc'), 'utf8')).toContain('\nignore-scripts=true\n');
});
