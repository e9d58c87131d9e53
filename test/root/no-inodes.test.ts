import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { MAIN } from '../support/program.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** Runs commands on a disk of 20 files that is seen by nobody else and gone with them; `fill` takes all files that are left. */
async function onSmallDisk(...commands: readonly string[]): Promise<string> {
  const folder = tempFolder();
  const script = `
    mount -t tmpfs -o nr_inodes=20,size=100m none ${folder}
    bms() { "${process.execPath}" ${MAIN} "$@" 2>&1; echo "exit code $?"; }
    fill() { n=0; while touch ${folder}/file$n 2> /dev/null; do n=$((n + 1)); done; }
    cd ${folder}; ${commands.join('; ')}`;
  const env = { PATH: process.env['PATH'], DATABASE_URL: `file:${folder}/mirror.db` };
  return (await promisify(execFile)('unshare', ['--mount', 'sh', '-c', script], { env })).stdout;
}

test.each([
  ['a mirror that is to be made', ['fill', 'bms migrate']],
  ['a mirror that is there', ['bms migrate', 'fill', 'bms status']],
])('a disk without inodes is full, not a missing right: %s', async (_, commands) => {
  const shown = await onSmallDisk(...commands);
  expect(shown).toMatch(/has no room: the disk is full \(ENOSPC\)\.\n.*inodes.*\nexit code 1\n$/);
});

test('doctor names them', async () => {
  const shown = await onSmallDisk('fill', 'bms doctor');
  expect(shown).toContain('no inode free: the disk holds as many files as it can');
});
