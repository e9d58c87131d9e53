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
  /** The program with a part that prints its inbox for each line that it reads. */
  readonly observed: (code: string) => string;
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  TypeScript: {
    block: 'ts',
    file: 'receiver.ts',
    command: () => [process.execPath, '--import', import.meta.resolve('tsx')],
    observed: (code) =>
      `${code}process.stdin.on('data', () => console.log(JSON.stringify([...inbox.values()])));\n`,
  },
  Python: {
    block: 'python',
    file: 'receiver.py',
    command: () => [
      findProgram({ names: ['python3'], package: 'python3', what: 'a python3 (3.9 or later)' }),
    ],
    observed: (code) => `${PYTHON_OBSERVER}${code}`,
  },
};

const PYTHON_OBSERVER = `import json, sys, threading
def tell():
    for _ in sys.stdin:
        print(json.dumps(list(inbox.values())), flush=True)
threading.Thread(target=tell, daemon=True).start()
`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

interface Receiver {
  readonly url: string;
  /** The events that it has kept. */
  readonly inbox: () => Promise<unknown>;
}

/** Starts the receiver as the page has it, on a free port. */
async function startReceiver({ block, file, command, observed }: Language): Promise<Receiver> {
  const code = new RegExp(`^\`\`\`${block}\\n(.*?)^\`\`\`$`, 'ms').exec(PAGE)?.[1];
  if (code === undefined) throw new Error(`docs/webhooks.md has no block of ${block}`);
  const folder = tempFolder();
  // Where its own packages would be: the library is resolved from this project's.
  const path = join(block === 'ts' ? join(ROOT, 'node_modules/.cache') : folder, `${process.pid}-${file}`);
  mkdirSync(join(path, '..'), { recursive: true });
  const port = await freePort();
  writeFileSync(path, observed(code.replace('8080', String(port))));
  const [program, ...args] = command();
  const env = { ...process.env, WEBHOOK_SECRET: SECRET };
  const child = spawn(program, [...args, path], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(path, { force: true });
  });
  const url = `http://127.0.0.1:${port}/`;
  const asked = (): Promise<number> => fetch(url, { method: 'POST' }).then(({ status }) => status);
  await expect.poll(asked, { timeout: 20_000 }).toBe(401);
  const lines = createInterface(child.stdout);
  const inbox = async (): Promise<unknown> => {
    const told = once(lines, 'line');
    child.stdin.write('\n');
    return JSON.parse(String((await told)[0]));
  };
  return { url, inbox };
}

test.each(Object.entries(LANGUAGES))(
  'the receiver in %s takes a genuine event once, however often it comes, and refuses a forged or an old one',
  async (_name, language) => {
    const { url, inbox } = await startReceiver(language);
    const event = { type: 'clients.updated', data: { recordId: '17', after: { name: 'Zoé' } } };
    const body = JSON.stringify(event);
    const post = async (
      id: string,
      sent: string,
      { signed = sent, at = new Date() } = {},
    ): Promise<number> => {
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
    expect(await post('b', body.replace('17', '18'), { signed: body })).toBe(401);
    expect(await post('b', body, { at: new Date(Date.now() - 600_000) })).toBe(401);
    expect(await post('c', body.replace('17', '19'))).toBe(204);
    expect(await inbox()).toEqual([event, JSON.parse(body.replace('17', '19'))]);
  },
);
