import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findProgram } from '../../support/apt.ts';
import { runProgram } from '../../support/program.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** Compiles the library that refuses; returns its path. */
function compileRefuses(): string {
  const compiler = findProgram({ names: ['cc'], package: 'build-essential', what: 'a C compiler' });
  const library = join(tempFolder(), 'refuses.so');
  const source = join(import.meta.dirname, 'refuses.c');
  execFileSync(compiler, ['-shared', '-fPIC', '-o', library, source, '-ldl']);
  return library;
}

test.each(['locks, as a server without them', 'locks, as a disk without them', 'shared memory'])(
  'a file system that refuses %s is named as such, by commands and by doctor',
  async (refused) => {
    const env = {
      DATABASE_URL: `file:${tempFolder()}/mirror.db`,
      LD_PRELOAD: compileRefuses(),
      REFUSES: refused,
    };
    const migrated = await runProgram(['migrate'], { env });
    expect([migrated.code, migrated.stderr]).toEqual([
      1,
      expect.stringContaining('lies on a file system that cannot lock or share it') as string,
    ]);
    expect(migrated.stderr).toContain('Keep the file on a local disk');
    expect((await runProgram(['doctor'], { env })).stdout).toContain('BAD  database: The mirror');
  },
);
