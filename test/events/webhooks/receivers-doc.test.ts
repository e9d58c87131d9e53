import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../support/redis-server.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SECRET = `whsec_${Buffer.from('a secret of thirty-two letters..').toString('base64')}`;

interface Receiver {
  readonly url: string;
  /** The events that it has kept. */
  readonly inbox: () => Promise<unknown>;
}

/** Starts the receiver as the page has it, on a free port; it prints its inbox for each line that it reads. */
async function startReceiver(): Promise<Receiver> {
  const page = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');
  const code = /^```ts\n(.*?)^```$/ms.exec(page)?.[1];
  if (code === undefined) throw new Error('docs/webhooks.md has no receiver');
  const port = await freePort();
  const folder = join(ROOT, 'node_modules/.cache'); // Where the library is found.
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${process.pid}-receiver.ts`);
  const observer = `process.stdin.on('data', () => console.log(JSON.stringify([...inbox.values()])));\n`;
  writeFileSync(path, code.replace('8080', String(port)) + observer);
  const env = { ...process.env, WEBHOOK_SECRET: SECRET };
  const argv = ['--import', import.meta.resolve('tsx'), path];
  const child = spawn(process.execPath, argv, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(path, { force: true });
  });
  const url = `http://127.0.0.1:${port}/`;
  const asked = (): Promise<number> => fetch(url, { method: 'POST' }).then(({ status }) => status);
  await expect.poll(asked).toBe(401);
  const lines = createInterface(child.stdout);
  const inbox = async (): Promise<unknown> => {
    const line = once(lines, 'line');
    child.stdin.write('\n');
    return JSON.parse(String((await line)[0]));
  };
  return { url, inbox };
}

test('the receiver of the page takes a genuine event once, however often it comes, and refuses a forged or an old one', async () => {
  const { url, inbox } = await startReceiver();
  const event = { type: 'clients.updated', data: { recordId: '17', after: { name: 'Zoé' } } };
  const body = JSON.stringify(event);
  const post = async (id: string, sent: string, signed = sent, at = new Date()): Promise<number> => {
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(SECRET).sign(id, at, signed),
    };
    return (await fetch(url, { method: 'POST', headers, body: sent })).status;
  };
  expect(await post('a', body)).toBe(204);
  expect(await post('a', body)).toBe(204);
  expect(await post('b', body.replace('17', '18'), body)).toBe(401);
  expect(await post('b', body, body, new Date(Date.now() - 600_000))).toBe(401);
  expect(await inbox()).toEqual([event]);
});
