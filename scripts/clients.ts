/**
 * `npm run test:clients`: installs the clients of docs/reporting as its pages say, and reads both mirrors through each of them
 * (`test/clients/`). Further arguments are vitest's. A client that cannot be had fails the run.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { homeOf, install, packagesOf, pathOf } from './clients/install.ts';
import { pagesToInstall } from './clients/pages.ts';

const ROOT = join(import.meta.dirname, '..');

const missing = pagesToInstall().flatMap((page) => {
  const problem = install(page);
  console.log(`${page}: ${problem ?? versionsOf(page).join(', ')}`);
  return problem === null ? [] : [page];
});
if (missing.length > 0) {
  console.error(`Not to be had: ${missing.join(', ')}.`);
  process.exitCode = 1;
} else {
  const env = { ...process.env, BMS_TEST_TIER: 'clients' };
  const vitest = join(ROOT, 'node_modules/.bin/vitest');
  const argv = ['run', '--no-file-parallelism', ...process.argv.slice(2)]; // One database `mirror`, as the pages name it.
  process.exitCode = spawnSync(vitest, argv, { cwd: ROOT, env, stdio: 'inherit' }).status ?? 1;
}

/** What was installed for a page, and its version: `pandas 3.1.1`. */
function versionsOf(page: string): readonly string[] {
  const env = { ...process.env, PATH: pathOf(page) };
  const lines = (command: string, argv: readonly string[]): readonly string[] =>
    spawnSync(command, argv, { env, encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
  const ofPip = lines('pip', ['list', '--format=freeze', '--not-required'])
    .map((line) => line.replace('==', ' '))
    .filter((line) => !/^(?:pip|setup\w+|wheel) /.test(line));
  const ofNpm = lines('npm', ['ls', '--prefix', homeOf(page), '--parseable', '--long'])
    .map((line) => line.split(':')[1]?.replace('@', ' ') ?? '')
    .filter((line) => / \d/.test(line));
  const debian = packagesOf(page);
  const format = '-f=${Package} ${Version}\n';
  return [...ofPip, ...ofNpm, ...(debian.length > 0 ? lines('dpkg-query', ['-W', format, ...debian]) : [])];
}
