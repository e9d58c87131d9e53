import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { canary } from '../support/canary.ts';
import type { Env } from '../support/command-line.ts';
import { MAIN, start } from '../support/program.ts';
import { freePort } from '../support/redis-server.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { serving, setScene } from './outbound-scene.ts';

const TOKEN = canary('-an-admin-token-of-32-characters');

async function stage() {
  const { env } = await setScene(onTestFinished, { size: 5 });
  const port = await freePort();
  const ask = (path: string, body?: object): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const settings: Env = { ...env, PORT: String(port), ADMIN_TOKEN: TOKEN, PATH: process.env['PATH'] ?? '' };
  return { env: settings, ask };
}

type Ask = Awaited<ReturnType<typeof stage>>['ask'];

/** Has serve pull, and waits for the end of that run. */
async function pulls(ask: Ask): Promise<void> {
  const { runId } = (await (await ask('/v1/pulls', { kinds: ['clients'] })).json()) as { runId: number };
  const state = async (): Promise<unknown> => {
    const { runs } = (await (await ask('/v1/runs')).json()) as {
      runs: readonly { id: number; state: string }[];
    };
    return runs.find(({ id }) => id === runId)?.state;
  };
  await expect.poll(state).toBe('done');
}

const reasons = async (ask: Ask): Promise<unknown> => {
  const answer = await ask('/ready');
  return [answer.status, ((await answer.json()) as { reasons?: unknown }).reasons];
};

const LOST = (code: string): unknown => [
  503,
  [expect.stringMatching(`^the log cannot be written, and its lines are lost: .*${code}`)],
];

test('serve works on and is not ready once the reader of its log has gone', async () => {
  const { env, ask } = await stage();
  const { child, ended } = start(['serve'], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  await serving({ child, ended });
  child.stderr?.destroy();
  child.stdout?.destroy();
  await pulls(ask);
  await pulls(ask);
  expect(await reasons(ask)).toEqual(LOST('EPIPE'));
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(code).toBe(0);
});

test('serve works on while its log has no room, and is ready again once it has', async () => {
  const { env, ask } = await stage();
  const log = join(tempFolder(), 'log');
  writeFileSync(log, '');
  truncateSync(log, 1 << 30);
  const file = openSync(log, 'a');
  // No file of this process may grow beyond a gigabyte, and its log is one already.
  const child = spawn('sh', ['-c', `ulimit -f ${1 << 21}; exec "$0" "$@"`, process.execPath, MAIN, 'serve'], {
    env,
    stdio: ['ignore', 'ignore', file],
  });
  closeSync(file);
  onTestFinished(() => void child.kill('SIGKILL'));
  await expect
    .poll(() =>
      ask('/health').then(
        (answer) => answer.ok,
        () => false,
      ),
    )
    .toBe(true);
  await pulls(ask);
  expect(await reasons(ask)).toEqual(LOST('EFBIG'));
  truncateSync(log, 0);
  await expect.poll(async () => (await ask('/ready')).status).toBe(200);
  expect(readFileSync(log, 'utf8')).toContain('"linesLost":true');
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(code).toBe(0);
});
