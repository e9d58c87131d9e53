import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { canary } from '../support/canary.ts';
import { json, run, settingsFor } from '../support/command-line.ts';
import { freshMirror, tempFolder } from '../support/temp-folder.ts';

const SERVICE = { BMS_BASE_URL: 'http://127.0.0.1:9', BMS_TOKEN: canary('-token') };

describe('a command that cannot be carried out as given ends with 2, says why on stderr, and touches nothing', () => {
  test.each([
    ['no token', { BMS_BASE_URL: SERVICE.BMS_BASE_URL }, ['BMS_TOKEN (source.token) is not set']],
    ['no base URL', { BMS_TOKEN: canary('-token') }, ['BMS_BASE_URL (source.baseUrl) is not set']],
    ['neither', {}, ['BMS_BASE_URL', 'BMS_TOKEN']],
    ['an empty token, which is none', { ...SERVICE, BMS_TOKEN: '' }, ['BMS_TOKEN (source.token) is not set']],
    [
      'a base URL that is none',
      { ...SERVICE, BMS_BASE_URL: 'example.com' },
      ['BMS_BASE_URL', 'http or https URL'],
    ],
    [
      'a token file that is not there',
      { ...SERVICE, BMS_TOKEN: '', BMS_TOKEN_FILE: '/nowhere/token' },
      ['BMS_TOKEN_FILE', '/nowhere/token'],
    ],
    ['an unknown variable', { ...SERVICE, BMS__SOURCE__TYPO: '1' }, ['BMS__SOURCE__TYPO', 'unknown setting']],
    [
      'a number out of range',
      { ...SERVICE, BMS__SOURCE__CONCURRENCY: '0' },
      ['BMS__SOURCE__CONCURRENCY', 'whole number from 1'],
    ],
    ['a log level that is none', { ...SERVICE, LOG_LEVEL: 'loud' }, ['LOG_LEVEL', 'one of trace']],
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
    ['a kind that there is not', ['pull', 'klients'], ['no record kind "klients"', 'clients, providers']],
    ['a kind among good ones', ['pull', 'clients', 'klients'], ['no record kind "klients"']],
    ['a kind without a list', ['pull', 'sales_products'], ['no list of sales_products', 'purchase_products']],
    ['an unknown command', ['pul'], ["unknown command 'pul'", 'pull']],
    ['an unknown option', ['pull', '--fast'], ["unknown option '--fast'"]],
    ['an option without its value', ['pull', '--config'], ['--config <file>']],
    ['a number that is none', ['runs', 'show', 'last'], ["'last' is invalid", 'whole number']],
    ['a run without its number', ['runs', 'show'], ["missing required argument 'id'"]],
    ['too many arguments', ['status', 'clients'], ['too many arguments']],
    ['a size that is none', ['sandbox', '--size', '0'], ['1 to', 'not 0']],
    ['a style of envelopes that there is not', ['sandbox', '--envelopes', 'torn'], ['documented, wild']],
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

  test('a settings file with an unknown key', async () => {
    const [path, file] = [freshMirror(), join(tempFolder(), 'settings.yaml')];
    writeFileSync(file, 'source:\n  baseUrl: http://127.0.0.1:9\n  tokn: abc\n');

    const { code, stderr } = await run(['pull', '--config', file], { DATABASE_URL: `file:${path}` });

    expect(code).toBe(2);
    expect(stderr).toContain('source.tokn');
    expect(stderr).toContain('did you mean source.token');
    expect(stderr).toContain(file);
    expect(existsSync(path)).toBe(false);
  });

  test('a settings file that is not there', async () => {
    const { code, stderr } = await run(['pull', '--config', '/nowhere/settings.yaml'], SERVICE);

    expect(code).toBe(2);
    expect(stderr).toContain('/nowhere/settings.yaml');
  });

  test('a PostgreSQL address that nobody answers at: not a matter of usage, and named without its password', async () => {
    const { code, stdout, stderr } = await run(['pull'], {
      ...SERVICE,
      DATABASE_URL: `postgres://user:${canary('')}@127.0.0.1:1/db`,
    });

    expect(code).toBe(1);
    expect(stderr).toContain('127.0.0.1:1');
    expect(stdout + stderr).not.toContain(canary(''));
  });

  test('a faults file that is not there, is no YAML, or holds no fault', async () => {
    const folder = tempFolder();
    const [noYaml, noFault] = [join(folder, 'no.yaml'), join(folder, 'other.yaml')];
    writeFileSync(noYaml, '- do: {latencyMs: 1\n');
    writeFileSync(
      noFault,
      '- on: {kind: clients}\n  do: {explode: true}\n- on: {kind: klients}\n  do: {html: true}\n',
    );

    const absent = await run(['sandbox', '--port', '0', '--faults', '/nowhere/faults.yaml']);
    expect(absent).toMatchObject({ code: 2, stdout: '' });
    expect(absent.stderr).toContain('/nowhere/faults.yaml');
    const broken = await run(['sandbox', '--port', '0', '--faults', noYaml]);
    expect(broken).toMatchObject({ code: 2, stdout: '' });
    expect(broken.stderr).toContain('neither YAML nor JSON');
    const wrong = await run(['sandbox', '--port', '0', '--faults', noFault]);
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toContain('fault 1, do');
    expect(wrong.stderr).toContain('fault 2, on.kind');
  });

  test('with --json the fault is the one document on stdout as well', async () => {
    const ended = await run(['pull', 'klients', '--json'], SERVICE);

    expect(ended.code).toBe(2);
    expect(json(ended)).toEqual({
      error: {
        code: 'usage.kind',
        message: 'There is no record kind "klients"; did you mean clients?',
        hint: expect.stringContaining('clients') as string,
      },
    });
    expect(ended.stderr).toContain('There is no record kind "klients"; did you mean clients?');
  });
});

describe('settings', () => {
  test('come from a file, an environment that is stronger, and a token file', async () => {
    await using sandbox = await startSandbox({ size: 10 });
    const folder = tempFolder();
    const [path, file, tokenFile] = [join(folder, 'm.db'), join(folder, 's.yaml'), join(folder, 'token')];
    writeFileSync(tokenFile, `${sandbox.token}\n`);
    writeFileSync(file, `source:\n  baseUrl: http://127.0.0.1:9\ndatabase:\n  url: file:${path}\n`);

    const { code } = await run(['pull', 'departments', '--config', file], {
      BMS_BASE_URL: sandbox.url,
      BMS_TOKEN_FILE: tokenFile,
    });

    expect(code).toBe(0);
    expect(existsSync(path)).toBe(true);
  });

  test('a folder that is not there yet is made for the mirror', async () => {
    await using sandbox = await startSandbox({ size: 10 });
    const path = join(tempFolder(), 'new', 'folder', 'mirror.db');

    expect(await run(['pull', 'departments'], settingsFor(sandbox, path))).toMatchObject({ code: 0 });
    expect(existsSync(path)).toBe(true);
  });
});
