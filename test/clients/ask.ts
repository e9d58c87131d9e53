import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { homeOf, pathOf } from '../../scripts/clients/install.ts';
import { codeOf } from '../../scripts/clients/pages.ts';
import type { Env } from '../support/command-line.ts';
import type { Ask, ClientAnswers } from './client.ts';
import { SNAPSHOT, type Stage } from './stage.ts';

export const PROBES = join(import.meta.dirname, 'probes');
const MOST_BYTES = 1e9;

/** Runs questions with the Python of a page, with its own read call. */
export const askPython: Ask = async (stage, { page, section, snapshot }, questions) => {
  const code = codeOf(page, 'python', [section, 'Read']);
  const asked = snapshot ? code.replaceAll('data/mirror.db', SNAPSHOT) : code;
  const files = filesFor(stage, asked, JSON.stringify(questions));
  await runIn(stage, page, ['python', join(PROBES, 'ask.py'), files.page, files.questions, files.answers]);
  return JSON.parse(readFileSync(files.answers, 'utf8')) as ClientAnswers;
};

/** Puts questions over the connection that the R of a page opens. */
export const askR: Ask = async (stage, { page, section }, questions) => {
  const files = filesFor(stage, codeOf(page, 'r', [section, 'Read']), `${questions.join('\n')}\n`);
  const printed = await runIn(stage, page, [
    'Rscript',
    join(PROBES, 'ask.R'),
    files.page,
    files.questions,
    files.answers,
  ]);
  return { printed, answers: separated(readFileSync(files.answers, 'utf8'), true) };
};

/** Puts questions over JDBC, at the address that a page gives, in a JVM set to UTC. */
export const askJava: Ask = (stage, connected, questions) => askJavaIn('UTC')(stage, connected, questions);

/** The same in a JVM set to this zone. */
export const askJavaIn =
  (zone: string): Ask =>
  async (stage, { page, section }, questions) => {
    const [address = ''] = codeOf(page, 'text', [section]).split('\n');
    const files = filesFor(stage, '', `${questions.join('\n')}\n`);
    const options = [`-Duser.timezone=${zone}`, '-cp', join(homeOf(page), 'jars/*')];
    const argv = [withPort(address, stage), files.questions, files.answers];
    await runIn(stage, page, ['java', ...options, join(PROBES, 'Ask.java'), ...argv]);
    return { printed: '', answers: separated(readFileSync(files.answers, 'utf8'), true) };
  };

/** Puts questions by the command of a page, `sqlite3 …` or `psql …`, with a separator that no field contains. */
export const askShell: Ask = async (stage, { page, section }, questions) => {
  const command = codeOf(page, 'sh', [section]).trim();
  const isPsql = command.startsWith('psql');
  const bare = `${withPort(command, stage)}${isPsql ? ' -A -t' : ''}`;
  const printed = await runIn(stage, page, [
    'sh',
    '-c',
    `echo "$0" | ${bare}`,
    codeOf(page, 'sql', ['Read']),
  ]);
  const marks = isPsql
    ? [
        '-q',
        '-A',
        '-v',
        'ON_ERROR_STOP=1',
        '-F',
        '\u001f',
        '-R',
        '\u001e',
        '-P',
        'null=\u0001',
        '-P',
        'footer=off',
        '-f',
        '-',
      ]
    : ['-ascii', '-header', '-nullvalue', '\u0001'];
  const answers = [];
  for (const question of questions) {
    const line = `${withPort(command, stage)} ${marks.map((mark) => `'${mark}'`).join(' ')}`;
    const asked = runIn(stage, page, ['sh', '-c', `echo "$0;" | ${line}`, question]);
    answers.push(
      ...(await asked.then(
        (output) =>
          output === '' ? [{ columns: [], rows: [] }] : separated(output.replace(/[\u001e\n]$/, ''), false),
        (error: unknown) => [{ error: String(error) }],
      )),
    );
  }
  return { printed, answers };
};

/** Code of a page with the port of this run's PostgreSQL in the place of the usual one: all else is to the letter. */
export const withPort = (code: string, { port }: Stage): string => code.replaceAll('5432', String(port));

interface Asked {
  readonly page: string;
  readonly questions: string;
  readonly answers: string;
}

/** Writes the page's code and the questions beside `data/`, and names the file for the answers. */
export function filesFor(stage: Stage, code: string, questions: string): Asked {
  const folder = mkdtempSync(join(stage.folder, 'asked-'));
  const page = join(folder, 'page');
  writeFileSync(page, withPort(code, stage));
  writeFileSync(join(folder, 'questions'), questions);
  return { page, questions: join(folder, 'questions'), answers: join(folder, 'answers') };
}

/** The environment of a page's programs, in a zone that is not UTC, as an analyst's is. */
export function envOf(page: string): NodeJS.ProcessEnv {
  return { ...process.env, PATH: pathOf(page), TZ: 'America/Montreal' };
}

/** Runs a program of a page's in the folder that has `data/`, with settings for a pull. */
export async function runIn(
  stage: Stage,
  page: string,
  [file = '', ...argv]: readonly string[],
  more: Env = {},
): Promise<string> {
  const env = { ...envOf(page), ...stage.settings, ...more };
  const options = { cwd: stage.folder, env, maxBuffer: MOST_BYTES };
  const { stdout } = await promisify(execFile)(file, argv, options);
  return stdout;
}

const NULL = '\u0001';

/** Reads answers whose rows are separated by U+001E and fields by U+001F; `isTyped` where a row of types follows the names. */
function separated(text: string, isTyped: boolean): ClientAnswers['answers'] {
  return text
    .split('\u001d')
    .filter((part) => part !== '')
    .map((part) => {
      const lines = part.split('\u001e').map((line) => line.split('\u001f'));
      const [names = [], types = []] = lines;
      if (names[0] === 'error') return { error: names[1] ?? '' };
      return {
        columns: names.map((name, at) => [name, isTyped ? (types[at] ?? '') : ''] as const),
        rows: lines.slice(isTyped ? 2 : 1).map((row) => row.map((value) => (value === NULL ? null : value))),
      };
    });
}
