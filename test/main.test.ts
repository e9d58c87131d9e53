import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAIN, runProgram, start } from './support/program.ts';
import { tempFolder } from './support/temp-folder.ts';

const ROOT = join(import.meta.dirname, '..');
const { engines, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly engines: { readonly node: string };
  readonly version: string;
};

/** Has Node take itself for another version, but not the Node that it starts; a module that is loaded afterwards is named on stderr. */
const preload = (version: string): string =>
  `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    if (process.env.OLD_NODE === undefined) {
      process.env.OLD_NODE = process.execPath;
      Object.defineProperty(process, 'version', { value: 'v${version}' });
      Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });
      registerHooks({ resolve(specifier, context, next) {
        if (!specifier.startsWith('node:') && context.parentURL?.endsWith('/main.js')) process.stderr.write('loads ' + specifier + '\\n');
        return next(specifier, context);
      } });
    }
  `)}`;

/** A copy of this Node, so that the checkout's own is another one than the old one. */
let copied = '';
beforeAll(() => {
  copied = mkdtempSync(join(tmpdir(), 'bms-sync-node-'));
  copyFileSync(process.execPath, join(copied, 'node'));
});
afterAll(() => {
  rmSync(copied, { recursive: true });
});
const oldNode = (): { readonly node: string; readonly flags: readonly string[] } => ({
  node: join(copied, 'node'),
  flags: ['--import', preload('20.20.2')],
});

/** The built program without a checkout around it. */
function packaged(): string {
  const folder = tempFolder();
  mkdirSync(join(folder, 'dist'));
  copyFileSync(MAIN, join(folder, 'dist/main.js'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  return join(folder, 'dist/main.js');
}

test.each(['20.20.2', '22.18.0'])(
  'a package says which Node it needs to Node %s, before anything loads',
  async (version) => {
    const ended = await runProgram(['status'], { main: ['--import', preload(version), packaged()] });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toBe(
      `Error: bms-sync needs Node 22.19 or later, and this is v${version}. Install Node 24.\n`,
    );
  },
);

/** Starts the checkout's program by an older Node, and waits until it serves. */
async function startByOldNode(): Promise<ReturnType<typeof spawn>> {
  const { node, flags } = oldNode();
  const started = spawn(node, [...flags, MAIN, 'sandbox', '--port', '0', '--size', '1'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(started.stdout), 'line')) as [string];
  expect(line).toContain('The sandbox answers');
  return started;
}

test('a checkout goes on under its own Node when an older one starts it', async () => {
  const { node, flags } = oldNode();
  const run = promisify(execFile);
  const env = { PATH: process.env['PATH'] };
  expect((await run(node, [...flags, MAIN, '--version'], { env })).stdout).toBe(`${version}\n`);
  await expect(run(node, [...flags, MAIN, 'no-such-command'], { env })).rejects.toMatchObject({ code: 2 });
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s to the older Node ends the program in order',
  async (signal) => {
    const started = await startByOldNode();
    started.kill(signal);
    expect(await once(started, 'close')).toEqual([0, null]);
  },
);

test('the program does not outlive the older Node that started it', async () => {
  const started = await startByOldNode();
  started.kill('SIGKILL');
  await once(started, 'close'); // Once the program has closed the output, too.
});

test('a signal that arrives twice at once, from the terminal and from npm, is one', async () => {
  const { child, ended } = start(['sandbox', '--port', '0', '--size', '1']);
  if (child.stdout === null) throw new Error('no stdout');
  await once(child.stdout, 'data');
  child.kill('SIGINT');
  child.kill('SIGINT');
  expect(await ended).toMatchObject({ code: 0, signal: null });
});

test('the oldest Node that package.json promises is let in', async () => {
  const oldest = `${engines.node.replace('>=', '')}.0`;
  const ended = await runProgram(['--version'], { main: ['--import', preload(oldest), MAIN] });
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stderr).toContain('loads ');
});

test.each([['pull'], ['demo', '--once'], ['status']])(
  '%s in a folder that was removed says so',
  async (...argv) => {
    const folder = join(tempFolder(), 'gone');
    const inRemoved = 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"';
    const ended = promisify(execFile)('sh', ['-c', inRemoved, folder, process.execPath, MAIN, ...argv]);
    await expect(ended).rejects.toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'Error: The working folder is not there. Go to a folder that exists (cd).\n',
    });
  },
);
