import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { createConnection } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { kindNamed, tempMirror } from '../mirror/temp-mirror.ts';
import { TOKEN, serveMirror } from './stage.ts';
import type { Stage } from './stage.ts';

const stage = async (): Promise<Stage> => serveMirror(await tempMirror([kindNamed('clients')]));

const MB = 1_048_576;
const TOO_LARGE = { status: 413, code: 'http.body_too_large' };
const NO_TOKEN = { status: 401, code: 'http.unauthorized' };
const SENT = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` };
const ANONYMOUS = { 'content-type': 'application/json' };
const CALLERS = [
  ['with the token', SENT, TOO_LARGE],
  ['without a token', ANONYMOUS, NO_TOKEN],
] as const;

type Headers = Readonly<Record<string, string>>;

function headOf(path: string, headers: Headers): string {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

interface Talk {
  /** Sent one after the other; nothing is read before all are. */
  readonly parts: readonly (string | Buffer)[];
}

/** What a server says to a client that reads nothing until it has sent everything; fails where the connection is reset. */
function afterSending({ url }: Stage, { parts }: Talk): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: hostname, port: Number(port) });
    onTestFinished(() => {
      socket.destroy();
    });
    let text = '';
    socket.pause();
    socket.on('error', reject);
    const left = [...parts];
    const next = (): void => {
      const part = left.shift();
      if (part !== undefined) {
        socket.write(part, next);
        return;
      }
      socket.setEncoding('utf8');
      socket.on('data', (some: string) => (text += some));
      socket.resume();
    };
    socket.on('connect', next);
    socket.on('end', () => {
      resolve(text);
    });
  });
}

function problemIn(text: string): unknown {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  expect(head).toMatch(/^content-type: application\/problem\+json$/im);
  expect(head).toMatch(/^connection: close$/im);
  const { status, code } = JSON.parse(body) as Record<string, unknown>;
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${String(status)} `));
  return { status, code };
}

const chunk = (bytes: number): string => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
const many = (bytes: number, size = 256 * 1024): readonly string[] =>
  Array.from({ length: bytes / size }, () => 'x'.repeat(size));

const LARGE: readonly (readonly [string, Headers, readonly string[]])[] = [
  ['a body of 2 MB', { 'content-length': String(2 * MB) }, many(2 * MB)],
  ['a body of 48 MB', { 'content-length': String(48 * MB) }, many(48 * MB)],
  ['a body that ends sooner than it said', { 'content-length': String(2 * MB) }, ['{}']],
  ['a body that never comes', { 'content-length': String(2 * MB) }, []],
  ['a body of more bytes than can be counted', { 'content-length': '9'.repeat(15) }, many(MB)],
  [
    'a body in chunks',
    { 'transfer-encoding': 'chunked' },
    [...Array.from({ length: 32 }, () => chunk(65_536)), '0\r\n\r\n'],
  ],
  [
    'a body in chunks without an end',
    { 'transfer-encoding': 'chunked' },
    Array.from({ length: 32 }, () => chunk(65_536)),
  ],
  [
    'a body that it asked for and did not wait for',
    { 'content-length': String(2 * MB), expect: '100-continue' },
    many(2 * MB),
  ],
];

for (const [who, headers, expected] of CALLERS)
  test.each(LARGE)(`who sends %s ${who} reads the answer`, async (_name, more, parts) => {
    const made = await stage();
    const text = await afterSending(made, {
      parts: [headOf('/v1/pulls', { ...headers, ...more }), ...parts],
    });
    expect(problemIn(text)).toEqual(expected);
    expect((await made.get('/v1/runs')).status).toBe(200);
  });

test.each([
  ['more than 4 kB', { 'content-length': '4097' }, ['x'.repeat(4_097)]],
  ['more than 4 kB in chunks', { 'transfer-encoding': 'chunked' }, [chunk(4_097), '0\r\n\r\n']],
  ['2 MB', { 'content-length': String(2 * MB) }, many(2 * MB)],
])('who sends %s to sign in reads the answer', async (_name, more, parts) => {
  const made = await stage();
  const head = headOf('/login', { 'content-type': 'application/x-www-form-urlencoded', ...more });
  expect(problemIn(await afterSending(made, { parts: [head, ...parts] }))).toEqual(TOO_LARGE);
});

test.each([
  ['JSON', SENT, `{"kinds":[]}${' '.repeat(MB - 12)}`, 202],
  ['one byte more', SENT, `{"kinds":[]}${' '.repeat(MB - 11)}`, 413],
])('a body of 1 MB is read: %s', async (_name, headers, body, status) => {
  const { url } = await stage();
  expect((await fetch(`${url}/v1/pulls`, { method: 'POST', headers, body })).status).toBe(status);
});

test.each(CALLERS)('who sends 48 MB by fetch %s reads the answer', async (_name, headers, expected) => {
  const { url } = await stage();
  const body = Buffer.alloc(48 * MB, 32);
  const answer = await fetch(`${url}/v1/pulls`, { method: 'POST', headers, body });
  expect(await answer.json()).toMatchObject(expected);
});

test.each(CALLERS)(
  'who writes on and on by a client of Node’s %s reads the answer',
  async (_name, headers, expected) => {
    const { url } = await stage();
    const agent = new HttpAgent({ keepAlive: true });
    onTestFinished(() => {
      agent.destroy();
    });
    const answer = await new Promise<string>((resolve, reject) => {
      const sent = httpRequest(`${url}/v1/pulls`, { agent, method: 'POST', headers }, (received) => {
        const chunks: Buffer[] = [];
        received.on('data', (some: Buffer) => chunks.push(some));
        received.on('end', () => {
          resolve(Buffer.concat(chunks).toString());
          sent.destroy();
        });
      });
      sent.on('error', reject);
      const write = (): void => {
        if (!sent.destroyed) sent.write(Buffer.alloc(65_536, 32), write);
      };
      write();
    });
    expect(JSON.parse(answer)).toMatchObject(expected);
  },
);

/** What a client that waits for leave hears before it has sent anything of the body. */
function askLeave({ url }: Stage, headers: Headers, body: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: hostname, port: Number(port) });
    onTestFinished(() => {
      socket.destroy();
    });
    let text = '';
    socket.setEncoding('utf8');
    socket.on('error', reject);
    socket.on('data', (some: string) => {
      if (text === '' && some.startsWith('HTTP/1.1 100 ')) socket.write(body);
      text += some;
    });
    socket.on('end', () => {
      resolve(text);
    });
    const length = { 'content-length': String(body.length), expect: '100-continue', connection: 'close' };
    socket.write(headOf('/v1/pulls', { ...headers, ...length }));
  });
}

test('who asks for leave to send gets it only where the body may come', async () => {
  const made = await stage();
  expect(await askLeave(made, SENT, '{"kinds":[]}')).toMatch(
    /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 202 Accepted\r\n/,
  );
  expect(problemIn(await askLeave(made, SENT, 'x'.repeat(2 * MB)))).toEqual(TOO_LARGE);
  expect(problemIn(await askLeave(made, ANONYMOUS, '{"kinds":[]}'))).toEqual(NO_TOKEN);
});

test.each([
  ['with the token', SENT, { status: 400, code: 'http.not_json' }],
  ['without a token', ANONYMOUS, NO_TOKEN],
])('who sends more than it said %s reads the answer to what it said', async (_name, headers, expected) => {
  const made = await stage();
  const head = headOf('/v1/pulls', { ...headers, 'content-length': '10' });
  const text = await afterSending(made, { parts: [`${head}${'x'.repeat(100)}`, ...many(2 * MB)] });
  expect(problemIn(text)).toEqual(expected);
});

test('a refused body that never ends is not read for ever', async () => {
  const { url } = await stage();
  const { hostname, port } = new URL(url);
  const socket = createConnection({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.resume();
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      resolve();
    });
  });
  let sent = 0;
  const write = (): void => {
    sent += MB;
    if (socket.writable) socket.write(Buffer.alloc(MB, 32), write);
  };
  socket.write(headOf('/v1/pulls', { ...SENT, 'content-length': '9'.repeat(12) }), write);
  await closed;
  expect(sent / MB).toBeGreaterThan(48);
  expect(sent / MB).toBeLessThan(128);
});

test('a connection whose request had been read is kept after a refusal', async () => {
  const { url } = await stage();
  const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => {
    agent.destroy();
  });
  const ports: unknown[] = [];
  for (const path of ['/health', '/v1/runs', '/v1/nothing', '/health'])
    await new Promise<void>((resolve, reject) => {
      const sent = httpRequest(`${url}${path}`, { agent }, (received) => {
        received.resume();
        received.on('end', resolve);
        expect(received.headers.connection).toBe('keep-alive');
        ports.push(received.socket.localPort);
      });
      sent.on('error', reject);
      sent.end();
    });
  expect(new Set(ports).size).toBe(1);
});
