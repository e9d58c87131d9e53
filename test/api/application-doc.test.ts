import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { at, putChanges } from '../events/support.ts';
import { TOKEN, serveMirror, type Stage } from '../http/stage.ts';
import { changeEntry } from '../../src/store/outbox/outbox-store.ts';
import { freePort } from '../support/redis-server.ts';
import { NOON, tempMirror } from '../store/temp-mirror.ts';

const ROOT = join(import.meta.dirname, '../..');
const SECRET = `whsec_${Buffer.from('a secret of thirty-two letters..').toString('base64')}`;

interface Application {
  readonly port: number;
  readonly lines: readonly string[];
  readonly kill: () => void;
}

/** Starts the application as docs/http-api.md has it; `lines` are what it has printed. */
async function start(stage: Stage, last: string): Promise<Application> {
  const page = readFileSync(join(ROOT, 'docs/http-api.md'), 'utf8');
  const code = /^```ts\n(.*?)^```$/ms.exec(page)?.[1];
  if (code === undefined) throw new Error('docs/http-api.md has no application');
  const folder = join(ROOT, 'node_modules/.cache'); // Where the library is found.
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const path = join(folder, `${process.pid}-${port}-application.mts`);
  writeFileSync(path, code);
  const env = {
    ...process.env,
    API: stage.url,
    TOKEN,
    WEBHOOK_SECRET: SECRET,
    LAST: last,
    PORT: String(port),
  };
  const argv = ['--import', import.meta.resolve('tsx'), path];
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = (): void => void child.kill('SIGKILL');
  onTestFinished(() => {
    kill();
    rmSync(path, { force: true });
  });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => void lines.push(line));
  return { port, lines, kill };
}

test('the application of the page pushes, waits, takes a webhook, and follows the changes from where it was', async () => {
  const session = await tempMirror();
  const stage = await serveMirror(session);
  const change = { kind: 'clients', change: 'created', observed_at: at('12:00'), after: '{"id":501}' };
  await putChanges(session, { ...change, record_id: '501' });

  const first = await start(stage, '0');
  await expect
    .poll(async () => (await stage.get('/v1/outbox?key=order-4711')).text())
    .toContain('"key":"order-4711"');
  const done = { state: 'done', verdict: 'sent', recordId: '501' } as const;
  await session.atomically((tx) => changeEntry(tx, { id: 1, epoch: 0, patch: done, now: NOON }));
  await expect
    .poll(() => first.lines)
    .toEqual(['pushed done 501', expect.stringContaining('"recordId":"501"')]);

  const event = JSON.stringify({ type: 'clients.created', data: { recordId: '501' } });
  const now = new Date();
  const headers = {
    'webhook-id': 'a',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign('a', now, event),
  };
  const deliver = (body: string) =>
    fetch(`http://127.0.0.1:${first.port}/`, { method: 'POST', headers, body }).then(({ status }) => status);
  expect([await deliver(event), await deliver(event.replace('501', '502'))]).toEqual([204, 401]);
  await expect.poll(() => first.lines.at(-1)).toBe(`webhook ${event}`);

  first.kill();
  await putChanges(session, { ...change, record_id: '502' });
  const again = await start(stage, '1');
  await expect
    .poll(() => again.lines)
    .toEqual(['pushed done 501', expect.stringContaining('"recordId":"502"')]);
});
