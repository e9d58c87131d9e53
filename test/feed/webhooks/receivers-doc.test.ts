import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { findProgram } from '../../support/apt.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');
const SECRET = `whsec_${Buffer.from('a secret of thirty-two letters..').toString('base64')}`;

interface Language {
  readonly block: string;
  readonly file: string;
  readonly command: () => readonly [program: string, ...args: string[]];
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  TypeScript: {
    block: 'ts',
    file: 'receiver.ts',
    command: () => [process.execPath, '--import', import.meta.resolve('tsx')],
  },
  Python: {
    block: 'python',
    file: 'receiver.py',
    command: () => [
      findProgram({ names: ['python3'], package: 'python3', what: 'a python3 (3.9 or later)' }),
    ],
  },
};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts the receiver as the page has it; returns its address and the lines that it prints from then on. */
async function startReceiver({ block, file, command }: Language): Promise<{ url: string; lines: string[] }> {
  const code = new RegExp(`^\`\`\`${block}\\n(.*?)^\`\`\`$`, 'ms').exec(PAGE)?.[1];
  if (code === undefined) throw new Error(`docs/webhooks.md has no block of ${block}`);
  const folder = tempFolder();
  // Where its own packages would be: the library is resolved from this project's.
  const path = join(block === 'ts' ? join(ROOT, 'node_modules/.cache') : folder, `${process.pid}-${file}`);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, code);
  const [program, ...args] = command();
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: SECRET };
  const child = spawn(program, [...args, path], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(path, { force: true });
  });
  const lines: string[] = [];
  const output = createInterface(child.stdout);
  output.on('line', (line) => lines.push(line));
  await once(output, 'line');
  expect(lines.splice(0)).toEqual(['listening']);
  return { url: `http://127.0.0.1:${port}/`, lines };
}

test.each(Object.entries(LANGUAGES))(
  'the receiver in %s takes a genuine event once, however often it comes, and refuses a forged one',
  async (_name, language) => {
    const { url, lines } = await startReceiver(language);
    const body = '{"type":"clients.updated","data":{"recordId":"17","after":{"name":"Zoé"}}}';
    const post = async (id: string, sent: string, signed = sent): Promise<number> => {
      const at = new Date();
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(SECRET).sign(id, at, signed),
      };
      const answer = await fetch(url, { method: 'POST', headers, body: sent });
      return answer.status;
    };
    expect(await post('a', body)).toBe(204);
    expect(await post('a', body)).toBe(204);
    expect(await post('b', body.replace('17', '18'), body)).toBe(401);
    expect(await post('c', body.replace('17', '19'))).toBe(204);
    await expect.poll(() => lines).toEqual(['clients.updated 17', 'clients.updated 19']);
  },
);
