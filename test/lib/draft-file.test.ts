import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createDraft } from '../../src/lib/draft-file.ts';
import { tempFolder } from '../support/temp-folder.ts';

const modeOf = (path: string): number => statSync(path).mode & 0o777;

function publish(path: string): number {
  const draft = createDraft(path);
  writeFileSync(draft.path, 'content');
  return draft.publish();
}

test('a file is its owner’s, before it is whole and after', () => {
  const path = join(tempFolder(), 'file');
  const before = process.umask(0);
  try {
    const draft = createDraft(path);
    expect(modeOf(dirname(draft.path))).toBe(0o700);
    writeFileSync(draft.path, 'content');
    expect(draft.publish()).toBe(7);
    expect(modeOf(path)).toBe(0o600);
    expect(readdirSync(dirname(path))).toEqual(['file']);
  } finally {
    process.umask(before);
  }
});

test('a file that replaces one of ours keeps the mode that its owner gave it', () => {
  const path = join(tempFolder(), 'file');
  publish(path);
  chmodSync(path, 0o640);
  publish(path);
  expect(modeOf(path)).toBe(0o640);
});

test('a link in its place is replaced, and nothing is written where it leads', () => {
  const folder = tempFolder();
  writeFileSync(join(folder, 'elsewhere'), 'untouched', { mode: 0o666 });
  symlinkSync('elsewhere', join(folder, 'file'));
  publish(join(folder, 'file'));
  expect(readFileSync(join(folder, 'elsewhere'), 'utf8')).toBe('untouched');
  expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('content');
  expect(modeOf(join(folder, 'file'))).toBe(0o600);
});

test('what killed processes have left of it is removed, and nothing else', () => {
  const folder = tempFolder();
  const { pid: ended } = spawnSync('true');
  const others = [`a.partial-${process.ppid}-aaaaaa`, `b.partial-${ended}-aaaaaa`, 'a.partial-x-aaaaaa'];
  for (const name of [...others, `a.partial-${ended}-aaaaaa`]) mkdirSync(join(folder, name));
  publish(join(folder, 'a'));
  expect(readdirSync(folder).sort()).toEqual([...others, 'a'].sort());
});
