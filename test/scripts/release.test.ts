import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { releaseChangelog } from '../../scripts/release/changelog.ts';
import { RELEASED_FILES, releaseEdits } from '../../scripts/release/edits.ts';
import { isBefore, setLockVersion } from '../../scripts/release/versions.ts';

const ROOT = join(import.meta.dirname, '../..');
const RELEASE = { version: '99.1.0', date: '2026-11-22' };
const CHANGELOG = `# Changelog

## Unreleased

### Added

- A thing.

## 0.9.0 (2026-01-02)

- An older thing.
`;

test('what is unreleased gets the version and the date, below an empty section', () => {
  expect(releaseChangelog(CHANGELOG, RELEASE)).toBe(
    CHANGELOG.replace('## Unreleased\n', '## Unreleased\n\n## 99.1.0 (2026-11-22)\n'),
  );
});

test.each([
  ['no section', '# Changelog\n\n## 0.9.0 (2026-01-02)\n\n- An older thing.\n'],
  ['an empty section', CHANGELOG.replace('### Added\n\n- A thing.\n\n', '')],
  ['headings only', CHANGELOG.replace('- A thing.\n\n', '')],
])('a changelog with %s of unreleased lines is refused', (_, text) => {
  expect(() => releaseChangelog(text, RELEASE)).toThrow(/nothing to release/);
});

test('a version that was released is refused, and so is the same release twice', () => {
  expect(() => releaseChangelog(CHANGELOG, { ...RELEASE, version: '0.9.0' })).toThrow(/already/);
  expect(() => releaseChangelog(releaseChangelog(CHANGELOG, RELEASE), RELEASE)).toThrow(/already/);
});

test('versions are ordered by their numbers, and nothing else is a version', () => {
  const version = fc.tuple(fc.nat(30), fc.nat(30), fc.nat(30));
  const weight = ([a, b, c]: readonly [number, number, number]): number => a * 10_000 + b * 100 + c;
  fc.assert(
    fc.property(version, version, (one, other) => {
      expect(isBefore(one.join('.'), other.join('.'))).toBe(weight(one) < weight(other));
    }),
  );
  expect([
    isBefore('2.0.0-dev', '2.0.0'),
    isBefore('2.0.0', '2.0.0-dev'),
    isBefore('1.9.0', '2.0.0-dev'),
  ]).toEqual([true, false, true]);
  for (const wrong of ['1.2', 'v1.2.3', '1.2.3-beta', '', '1.2.x'])
    expect(() => isBefore(wrong, '1.0.0')).toThrow(/three numbers/);
});

/** The files of this checkout as they are. */
const present = (): Map<string, string> =>
  new Map(RELEASED_FILES.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));

test('every file that names the version gets the new one, and nothing else changes', () => {
  const before = present();
  before.set('CHANGELOG.md', CHANGELOG);
  const { version } = JSON.parse(before.get('package.json') ?? '') as { version: string };
  const after = releaseEdits(before, RELEASE);
  for (const path of RELEASED_FILES.filter((path) => path !== 'CHANGELOG.md')) {
    const was = before.get(path)?.split('\n') ?? [];
    const is = after.get(path)?.split('\n') ?? [];
    const changed = is.filter((line, at) => line !== was[at]);
    expect([path, is.length]).toEqual([path, was.length]);
    expect([path, changed.length]).toEqual([path, path === 'package-lock.json' ? 2 : 1]);
    expect(changed.every((line) => line.includes(RELEASE.version) && !line.includes(version))).toBe(true);
  }
});

test('the lock file keeps its packages and their order', () => {
  const lock = present().get('package-lock.json') ?? '';
  const { version } = JSON.parse(lock) as { version: string };
  expect(setLockVersion(setLockVersion(lock, '99.1.0'), version)).toBe(lock);
});

test('main names the release that it is on the way to, without a section in the changelog', () => {
  const after = releaseEdits(present(), { ...RELEASE, version: '99.1.0-dev' });
  expect(after.get('CHANGELOG.md')).toBe(present().get('CHANGELOG.md'));
  expect(JSON.parse(after.get('package.json') ?? '')).toMatchObject({ version: '99.1.0-dev' });
});

test('a version lower than the present one is refused', () => {
  const texts = present();
  texts.set('CHANGELOG.md', CHANGELOG);
  expect(() => releaseEdits(texts, { ...RELEASE, version: '0.0.9' })).toThrow(/comes before/);
});
