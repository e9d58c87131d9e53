import Database from 'better-sqlite3';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/sandbox.ts';
import { canary } from '../../support/canary.ts';
import { run, settingsFor } from '../../support/command-line.ts';
import { start } from '../../support/program.ts';
import { freshMirror } from '../../support/temp-folder.ts';

const ADMIN_TOKEN = canary('-an-admin-token-of-32-characters');

test('serve answers while another process holds the file, and writes once it is free', async ({
  onTestFinished,
}) => {
  const sandbox = await startSandbox({ size: 5 });
  onTestFinished(() => sandbox.close());
  const path = freshMirror();
  const more = { BMS__SCHEDULES__ALL: 'null', PORT: '0', ADMIN_TOKEN };
  const env = { ...settingsFor(sandbox, path), ...more };
  await run(['migrate'], env);
  const serving = start(['serve', '--only', 'http'], { env });
  onTestFinished(() => void serving.child.kill('SIGKILL'));
  const address = await new Promise<string>((resolve) => {
    let output = '';
    serving.child.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const found = /"address":"([^"]+)"/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const other = new Database(path, { timeout: 10_000 });
  onTestFinished(() => void other.close());
  other.exec('begin immediate');

  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
  let isAnswered = false;
  const asked = request(`${address}/v1/pulls`, { method: 'POST', headers, body: '{}' }).finally(() => {
    isAnswered = true;
  });
  for (let times = 0; times < 40; times += 1) {
    const health = await request(`${address}/health`, { headersTimeout: 1_000 });
    expect(health.statusCode).toBe(200);
    await health.body.dump();
  }
  expect(isAnswered).toBe(false);
  other.exec('rollback');
  expect((await asked).statusCode).toBe(202);
});
