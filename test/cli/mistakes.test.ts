import { execFile } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run, type Ended, type Env } from '../support/command-line.ts';
import { MAIN, runProgram } from '../support/program.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { FILE_MISTAKES, OPTION_MISTAKES, PUSH_MISTAKES } from './mistakes/command-mistakes.ts';
import type { Mistake, Stage } from './mistakes/mistake.ts';
import { HEADER_MISTAKES, TLS_MISTAKES, TOKEN_MISTAKES, URL_MISTAKES } from './mistakes/service-mistakes.ts';
import { SETTINGS_MISTAKES } from './mistakes/settings-mistakes.ts';
import { openStage } from './mistakes/stage.ts';
import {
  DATABASE_PATH_MISTAKES,
  DATABASE_RIGHTS_MISTAKES,
  PORT_MISTAKES,
  QUEUE_MISTAKES,
} from './mistakes/storage-mistakes.ts';

const AREAS: Readonly<Record<string, readonly Mistake[]>> = {
  URL: URL_MISTAKES,
  TLS: TLS_MISTAKES,
  token: TOKEN_MISTAKES,
  header: HEADER_MISTAKES,
  settings: SETTINGS_MISTAKES,
  'database path': DATABASE_PATH_MISTAKES,
  'database rights': DATABASE_RIGHTS_MISTAKES,
  queue: QUEUE_MISTAKES,
  port: PORT_MISTAKES,
  'push data': PUSH_MISTAKES,
  options: OPTION_MISTAKES,
  'files and disk': FILE_MISTAKES,
};

/** The code of an error alone, where a sentence belongs. */
const BARE_CODE = /\bgot (E[A-Z]{3,}|ERR_|UND_)|^(Error: )?(E[A-Z]{4,}|ERR_\w+)\b/m;

function expectMessage({ stdout, stderr }: Ended): void {
  expect(stdout + stderr).not.toMatch(/\n\s+at \S/); // A stack trace.
  expect(stdout + stderr).not.toContain('This is a bug');
  expect(stdout + stderr).not.toMatch(BARE_CODE);
}

async function made({ argv, env, stdin }: Mistake, stage: Stage, working: Env): Promise<Ended> {
  const own = typeof env === 'function' ? env(stage) : env;
  const words = typeof argv === 'function' ? argv(stage) : argv;
  const piped = stdin === undefined ? [] : [stdin];
  return run(words, { ...working, ...own }, undefined, piped);
}

describe('an everyday mistake ends with its exit code and a message that says the cause and the next step:', () => {
  test.each(Object.entries(AREAS))('%s', async (area, mistakes) => {
    const { stage, env } = await openStage({ withRedis: area === 'queue' || area === 'TLS' });

    for (const mistake of mistakes) {
      const ended = await made(mistake, stage, env);

      const output = ended.stdout + ended.stderr;
      const missing = mistake.message.filter((words) => !output.includes(words));
      expect({ title: mistake.title, code: ended.code, missing, output }).toEqual({
        title: mistake.title,
        code: mistake.code,
        missing: [],
        output,
      });
      expectMessage(ended);
      if (mistake.hides !== undefined) expect(output).not.toContain(mistake.hides);
    }
  });
});

describe('mistakes that only a process of its own can make', () => {
  test('output into a file whose disk is full', async () => {
    const ended = await shell(`"${process.execPath}" "${MAIN}" --help > /dev/full`);

    expect(ended).toMatchObject({ code: 1 });
    expect(ended.stderr).toContain('The output could not be written: its disk is full.');
    expectMessage(ended);
  });

  test('an .env that the user may not read', async () => {
    const cwd = tempFolder();
    chmodSync(cwd, 0o755);
    writeFileSync(join(cwd, '.env'), 'BMS_TOKEN=x\n', { mode: 0 });
    const asNobody = process.getuid?.() === 0 ? { uid: 65_534 } : {}; // Root may read everything.

    const ended = await runProgram(['--version'], { cwd, ...asNobody });

    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toBe(
      'Error: The file .env may not be read by this user. Correct it, or move it away.\n',
    );
  });
});

function shell(line: string, env: Env = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env['PATH'], ...env }, cwd: tempFolder() };
    const child = execFile('sh', ['-c', line], options, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, stdout, stderr });
    });
  });
}
