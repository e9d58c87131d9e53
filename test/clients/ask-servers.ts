import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../scripts/clients/pages.ts';
import { compactJson, isArray, isObject, tryParseJson, type Json } from '../../src/lib/json/json.ts';
import { freePort } from '../support/redis-server.ts';
import { PROBES, envOf, filesFor, runIn, withPort } from './ask.ts';
import type { Ask, ClientAnswers } from './client.ts';

/** Puts questions as Superset does for a chart, with the configuration and the address of a page. */
export const askSuperset: Ask = async (stage, { page, section }, questions) => {
  const files = filesFor(stage, '', JSON.stringify(questions));
  const config = join(stage.folder, 'superset_config.py');
  const key = `SECRET_KEY = "${'of a test '.repeat(5)}"\n`;
  writeFileSync(config, `${codeOf(page, 'python', ['Configure'])}\n${key}`);
  const env = { SUPERSET_CONFIG_PATH: config, SUPERSET_HOME: stage.folder };
  const address = withPort(codeOf(page, 'text', [section]).trim(), stage);
  const argv = ['python', join(PROBES, 'ask_superset.py'), address, files.questions, files.answers];
  await runIn(stage, page, argv, env);
  return JSON.parse(readFileSync(files.answers, 'utf8')) as ClientAnswers;
};

/** Puts questions to the JSON interface of the server that a page starts. */
export const askDatasette: Ask = async (stage, { page, section }, questions) => {
  const port = await freePort();
  const command = codeOf(page, 'sh', [section]).trim().replaceAll('8001', String(port));
  const server = spawn('sh', ['-c', `exec ${command}`], {
    cwd: stage.folder,
    env: envOf(page),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    for await (const line of server.stderr) if (String(line).includes('Uvicorn running')) break;
    const answers = [];
    for (const question of questions) {
      const url = `http://127.0.0.1:${port}/bi.json?_shape=arrays&sql=${encodeURIComponent(question)}`;
      const body = await (await fetch(url)).text();
      const parsed = tryParseJson(body);
      answers.push(parsed === undefined ? { error: body } : datasetteAnswer(parsed));
    }
    return { printed: '', answers };
  } finally {
    server.kill();
    await once(server, 'exit');
  }
};

function datasetteAnswer(body: Json): ClientAnswers['answers'][number] {
  if (!isObject(body) || body['ok'] !== true) return { error: compactJson(body) };
  const columns = body['columns'];
  const rows = body['rows'];
  if (!isArray(columns) || !isArray(rows) || body['truncated'] !== false) return { error: 'not all rows' };
  const text = (value: Json): string | null =>
    value === null || typeof value === 'string' ? value : compactJson(value);
  return {
    columns: columns.map((name) => [text(name) ?? '', ''] as const),
    rows: rows.map((row) => (isArray(row) ? row.map(text) : [])),
  };
}
