import { spawnSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { beginSnapshot } from '../../../src/mirror/sqlite/snapshot-file.ts';
import { tempFolder } from '../temp-mirror.ts';

const { pid: ended } = spawnSync('true');

test('a snapshot removes what killed processes have left of it, and nothing else', () => {
  const folder = tempFolder();
  const others = [`bi.db.${process.ppid}.partial`, `other.db.${ended}.partial`, 'bi.db.x.partial'];
  for (const name of [...others, `bi.db.${ended}.partial`]) writeFileSync(join(folder, name), 'removed');

  beginSnapshot(join(folder, 'bi.db')).finish();

  expect(readdirSync(folder).sort()).toEqual([...others, 'bi.db'].sort());
});

test('a snapshot is readable by others only once it is whole', () => {
  const path = join(tempFolder(), 'bi.db');
  const modeOf = (file: string): number => statSync(file).mode & 0o777;

  const file = beginSnapshot(path);

  expect(modeOf(`${path}.${process.pid}.partial`)).toBe(0o600);
  file.finish();
  expect(modeOf(path)).toBe(0o644);
});
