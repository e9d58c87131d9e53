import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { MAIN, runProgram } from './support/program.ts';
import { tempFolder } from './support/temp-folder.ts';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly engines: { readonly node: string };
};

/** Has Node take itself for another version; a module that is loaded afterwards is named on stderr. */
const preload = (version: string): string =>
  `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    Object.defineProperty(process, 'version', { value: 'v${version}' });
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });
    registerHooks({ resolve(specifier, context, next) {
      if (!specifier.startsWith('node:') && context.parentURL?.endsWith('/main.js')) process.stderr.write('loads ' + specifier + '\\n');
      return next(specifier, context);
    } });
  `)}`;

test.each(['20.20.2', '22.18.0'])(
  'Node %s is told which one is needed, before anything loads',
  async (version) => {
    const ended = await runProgram(['status'], { main: ['--import', preload(version), MAIN] });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toBe(
      `Error: bms-sync needs Node 22.19 or later, and this is v${version}; in a checkout, npx bms-sync has its own.\n`,
    );
  },
);

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
    const ended = promisify(execFile)('sh', ['-c', inRemoved, folder, process.execPath, MAIN, ...argv], {
      timeout: 20_000,
    });
    await expect(ended).rejects.toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'Error: The working folder is not there. Go to a folder that exists (cd).\n',
    });
  },
);
