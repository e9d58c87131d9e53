import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Fault } from '../../sandbox/faults.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { MARK, canary } from '../support/canary.ts';
import { run, settingsFor, type Ended } from '../support/command-line.ts';
import { bytesOf } from '../support/mirror-file.ts';
import { runProgram } from '../support/program.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { freshMirror, tempFolder } from '../support/temp-folder.ts';

/** It has characters that JSON, regular expressions and URLs write otherwise; no part of it may leak either. */
const CANARY = canary('/rhtq"$&+=?pfdm');
const FORMS = [MARK, 'rhtq', 'pfdm'];
/** For tests that are about another secret, or about none. */
const TOKEN = canary('-token');

function expectNone(where: string, text: string | Buffer): void {
  for (const form of FORMS) expect([where, form, text.includes(form)]).toEqual([where, form, false]);
}

function expectSilent(where: string, ended: Ended): void {
  expectNone(`stdout of ${where}`, ended.stdout);
  expectNone(`stderr of ${where}`, ended.stderr);
}

/** Ways in which a service may hand the token back to us. */
const FAULTS: readonly (readonly [string, Fault])[] = [
  ['an error that repeats the token', { do: { status: 400, body: `{"message":"No user has ${CANARY}"}` } }],
  ['a refusal that repeats the token', { do: { status: 403, body: `Forbidden for ${CANARY}` } }],
  ['a page that repeats the token', { do: { status: 200, body: `<html><body>${CANARY}</body></html>` } }],
  [
    'a list that is none and repeats the token',
    { do: { status: 200, body: `{"message":"No user has ${CANARY}"}` } },
  ],
  [
    'a redirect with the token',
    { do: { redirect: `http://127.0.0.1:9/?token=${encodeURIComponent(CANARY)}` } },
  ],
];

test('the token is in no output, log line, error or database byte, whatever is run and however it goes (J08, J09)', async () => {
  await using sandbox = await startSandbox({ size: 10, token: CANARY });
  const path = freshMirror();
  const env = { ...settingsFor(sandbox, path), LOG_LEVEL: 'trace', BMS__SOURCE__MAX_ATTEMPTS: '2' };

  for (const argv of [
    ['pull'],
    ['pull', '--json'],
    ['status', '--json'],
    ['runs'],
    ['runs', 'show', '1'],
    ['migrate'],
    ['doctor'],
    ['doctor', '--json'],
  ]) {
    const ended = await run(argv, env);
    expect([argv, ended.code]).toEqual([argv, 0]);
    expectSilent(argv.join(' '), ended);
  }
  const logged = await runProgram(['pull', 'departments'], { env });
  expectSilent('pull as a process of its own', logged);
  expect(logged.stderr).toContain('source request'); // So that there was a log to search.

  for (const [name, fault] of FAULTS) {
    sandbox.setFaults([fault]);
    const ended = await run(['pull', 'clients', 'departments', '--json'], env);
    expect(ended.code, name).not.toBe(0);
    expect(ended.code, name).not.toBe(70);
    expectSilent(name, ended);
    expectSilent(`doctor, ${name}`, await run(['doctor'], env));
  }
  expectNone('the database', bytesOf(path));
});

test.each([
  ['JSON', JSON.stringify(CANARY)],
  ['JSON as PHP writes it', JSON.stringify(CANARY).replaceAll('/', '\\/')],
  ['a URL', encodeURIComponent(CANARY)],
])('an answer that repeats the token as it stands in %s is not quoted either (J08)', async (_name, form) => {
  await using sandbox = await startSandbox({ size: 3, token: CANARY });
  const path = await grownMirror();
  const env = { ...settingsFor(sandbox, path), LOG_LEVEL: 'trace' };
  sandbox.setFaults([{ do: { status: 400, body: `{"token":${form}}` } }]);

  expectSilent('pull', await runProgram(['pull', 'departments', '--json'], { env }));
  expectSilent('doctor', await run(['doctor'], env));
  expectNone('the database', bytesOf(path));
});

test('settings that are wrong are named without the token (J08)', async () => {
  const folder = tempFolder();
  const yaml = join(folder, 'a.yaml');
  const broken = join(folder, 'b.yaml');
  const tokenFile = join(folder, 'token');
  writeFileSync(yaml, `source:\n  token: [${JSON.stringify(CANARY)}]\n  baseUrl: 7\n`);
  writeFileSync(broken, `source:\n  token: ${JSON.stringify(CANARY)}: [\n`);
  writeFileSync(tokenFile, `two ${CANARY}\nlines`);

  for (const [argv, env] of [
    [['pull', '--config', yaml], {}],
    [['pull', '--config', broken], {}],
    [['pull'], { BMS_BASE_URL: 'http://127.0.0.1:9', BMS_TOKEN: `with a space ${CANARY}` }],
    [['pull'], { BMS_BASE_URL: 'http://127.0.0.1:9', BMS_TOKEN_FILE: tokenFile }],
    [['pull'], { BMS_BASE_URL: `http://127.0.0.1:9/?token=${encodeURIComponent(CANARY)}`, BMS_TOKEN: TOKEN }],
    [['pull'], { BMS_BASE_URL: `http://user:${encodeURIComponent(CANARY)}@127.0.0.1:9/`, BMS_TOKEN: TOKEN }],
    [['pull'], { BMS__SOURCE: JSON.stringify({ token: { value: CANARY } }) }],
  ] as const) {
    const ended = await run(argv, env);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expectSilent(JSON.stringify(argv), ended);
  }
});
