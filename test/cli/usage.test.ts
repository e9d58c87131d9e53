import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SUMMARIES } from '../../src/cli/parts/summaries.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { canary } from '../support/canary.ts';
import { json, run } from '../support/command-line.ts';
import { freshMirror, tempFolder } from '../support/temp-folder.ts';

const SERVICE = { BMS_BASE_URL: 'http://127.0.0.1:9', BMS_TOKEN: canary('-token') };

describe('a command that cannot be carried out as given ends with 2, says why on stderr, and touches nothing', () => {
  test.each([
    ['neither', {}, ['BMS_BASE_URL', 'BMS_TOKEN']],
    [
      'several faults at once',
      { ...SERVICE, BMS__SOURCE__CONCURRENCY: 'x', BMS__NOPE: '1', LOG_LEVEL: 'loud' },
      ['BMS__SOURCE__CONCURRENCY', 'BMS__NOPE', 'LOG_LEVEL'],
    ],
  ])('pull with %s', async (_name, env, words) => {
    const path = freshMirror();

    const { code, stdout, stderr } = await run(['pull'], { ...env, DATABASE_URL: `file:${path}` });

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Error: /);
    for (const word of words) expect(stderr).toContain(word);
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    ['a kind without a list', ['pull', 'sales_products'], ['no list of sales_products', 'purchase_products']],
    ['too many arguments', ['status', 'clients'], ['too many arguments']],
    ['a size that is none', ['sandbox', '--size', '0'], ['1 to', 'not 0']],
    ['a format that there is not', ['export', 'clients', '--format', 'cvs'], ['csv, ndjson, xlsx']],
    ['a mistyped state', ['outbox', '--state', 'parkd'], ['Allowed choices are all, open, parked']],
    ['a mistyped decision', ['outbox', 'abandn', '1'], ["unknown command 'abandn'; did you mean abandon?"]],
    ['a mistyped role', ['serve', '--only', 'outbond'], ['did you mean outbound?']],
  ])('%s', async (_name, argv, words) => {
    const path = freshMirror();

    const { code, stdout, stderr } = await run(argv, { ...SERVICE, DATABASE_URL: `file:${path}` });

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const word of words) expect(stderr).toContain(word);
    expect(existsSync(path)).toBe(false);
  });

  test('no command at all shows the help', async () => {
    const { code, stdout, stderr } = await run([]);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: bms-sync');
  });

  test('the help of all commands shows the arguments and the summary that each one shows itself', async () => {
    const { code, stdout, stderr } = await run(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    const listed = stdout.matchAll(/^ {2}([a-z]+) (\[options\].*?) {2,}(.+)$/gm);
    const names = [...listed].map(([, name = '', usage, summary]) => ({ name, usage, summary }));
    expect(names.map(({ name }) => name)).toEqual(Object.keys(SUMMARIES));
    for (const { name, usage, summary } of names) {
      const help = (await run([name, '--help'])).stdout
        .split(/\n\n/)
        .map((part) => part.replaceAll('\n', ' '));
      expect(help.slice(0, 2).map((part) => part.replace(' [command]', ''))).toEqual([
        `Usage: bms-sync ${name} ${usage}`,
        summary,
      ]);
    }
  });

  test('with --json the fault is the one document on stdout as well', async () => {
    const ended = await run(['pull', 'klients', '--json'], SERVICE);

    expect(ended.code).toBe(2);
    expect(json(ended)).toEqual({
      error: {
        code: 'usage.kind',
        message: 'Unknown record kind "klients"; did you mean clients?',
        hint: expect.stringContaining('clients') as string,
      },
    });
    expect(ended.stderr).toContain('Unknown record kind "klients"; did you mean clients?');
  });
});

describe('settings', () => {
  test('come from a file, an environment that is stronger, and a token file', async () => {
    await using sandbox = await startSandbox({ size: 10 });
    const folder = tempFolder();
    const path = join(folder, 'm.db');
    const file = join(folder, 's.yaml');
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, `${sandbox.token}\n`);
    writeFileSync(file, `source:\n  baseUrl: http://127.0.0.1:9\ndatabase:\n  url: file:${path}\n`);

    const { code } = await run(['pull', 'departments', '--config', file], {
      BMS_BASE_URL: sandbox.url,
      BMS_TOKEN_FILE: tokenFile,
    });

    expect(code).toBe(0);
    expect(existsSync(path)).toBe(true);
  });
});
