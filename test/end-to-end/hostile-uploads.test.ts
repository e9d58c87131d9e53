import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';
import { UPLOAD_BYTES } from '../../src/http/upload-limit.ts';
import { canary } from '../support/canary.ts';
import { run, type Env } from '../support/command-line.ts';
import { start, type Program } from '../support/program.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { sheetOf, textRow, workbookOf, zipOf } from '../features/plans/sheet/workbooks.ts';
import { setScene } from './outbound-scene.ts';
import { addressOf } from './three-processes-crew.ts';

const ADMIN_TOKEN = canary('-an-admin-token-of-32-characters');
const SECRET = canary('-content-of-a-cell');
const MOST_GROWTH = 1_200; // Megabytes.
/** In ms, on a machine that others keep busy (0.2 to 0.4 s alone); without the bounds, /health was away for more than a minute. */
const LONGEST_SILENCE = 5_000;
const BOUNDARY = 'an-upload-by-a-form';

interface Stage {
  readonly env: Env;
  readonly program: Program;
  readonly url: string;
  /** A folder for temporary files of its own. */
  readonly temp: string;
  readonly log: () => string;
}

async function serve(env: Env, temp: string): Promise<Stage> {
  const program = start(['serve'], { env: { ...env, TMPDIR: temp }, cwd: temp });
  onTestFinished(() => {
    program.child.kill('SIGKILL');
  });
  let log = '';
  program.child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  return { env, program, url: await addressOf(program), temp, log: () => log };
}

async function setStage(at: 'sqlite' | 'postgres'): Promise<Stage> {
  const further = { ADMIN_TOKEN, LOG_LEVEL: 'debug', BMS_WRITES: 'off' };
  const scene = await setScene(onTestFinished, { at, size: 40, kinds: ['clients'], env: further });
  return serve(scene.env, tempFolder());
}

const megabytes = ({ program }: Stage): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${program.child.pid ?? 0}/status`, 'utf8'))?.[1]) / 1024;

interface Health {
  /** The longest wait in ms. */
  readonly longest: number;
  readonly faults: readonly string[];
}

/** Asks for `/health` all the time, in a thread of its own; returns a function that ends it. */
function pinging({ url }: Stage): () => Promise<Health> {
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
    let longest = 0, since = null;
    const faults = [];
    parentPort.once('message', () => {
      if (since !== null) longest = Math.max(longest, performance.now() - since);
      parentPort.postMessage({ longest, faults });
    });
    (async () => { for (;;) {
      since = performance.now();
      await fetch(workerData + '/health', { headers: { connection: 'close' } }).then((answer) => answer.text()).catch((error) => { faults.push(String(error.cause ?? error)); });
      longest = Math.max(longest, performance.now() - since); since = null;
      await new Promise((resolve) => setTimeout(resolve, 20));
    } })();`,
    { eval: true, workerData: url },
  );
  onTestFinished(() => void worker.terminate());
  return async () => {
    worker.postMessage('end');
    const [health] = (await once(worker, 'message')) as [Health];
    await worker.terminate();
    return health;
  };
}

interface Upload {
  readonly body: string | Uint8Array;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const BEARER = { authorization: `Bearer ${ADMIN_TOKEN}` };
const CSV = { 'content-type': 'text/csv' };
const BOOK = { 'content-type': 'application/octet-stream' };

async function send({ url }: Stage, { body, path = '/v1/plans?kind=clients', headers = {} }: Upload) {
  const answer = await fetch(url + path, {
    method: 'POST',
    body: body as string,
    headers: { ...BEARER, ...CSV, ...headers },
    redirect: 'manual',
  });
  return { status: answer.status, text: await answer.text() };
}

/** Writes a request as it is; returns the connection. */
function write({ url }: Stage, headers: string, body: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = createConnection({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write(
    `POST /v1/plans?kind=clients HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${ADMIN_TOKEN}\r\ncontent-type: text/csv\r\n${headers}\r\n\r\n${body}`,
  );
  return socket;
}

const form = (...parts: readonly (readonly [disposition: string, body: string])[]): Upload => {
  const encoded = parts.map(
    ([disposition, body]) =>
      `--${BOUNDARY}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n${body}\r\n`,
  );
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  return { path: '/plans', body: `${encoded.join('')}--${BOUNDARY}--\r\n`, headers };
};

const filled = (head: string, line: string, bytes = UPLOAD_BYTES): string =>
  head + line.repeat(Math.floor((bytes - head.length) / line.length));

const HEAD = textRow(1, ['id', '_version', 'name']);
const NEW = `id,code,name\n,H-1,${SECRET}\n`;
const entities = `<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]>${sheetOf(HEAD + textRow(2, ['1', '&a;', '']))}`;

// prettier-ignore
const HOSTILE: readonly (readonly [name: string, status: number, upload: () => Upload])[] = [
  ['10 MB and a byte', 413, () => ({ body: 'x'.repeat(UPLOAD_BYTES + 1) })],
  ['10 MB and a byte, by a form', 413, () => form(['name="file"; filename="a.csv"', 'x'.repeat(UPLOAD_BYTES + 1)])],
  ['a zip bomb', 400, () => ({ body: workbookOf(Buffer.alloc(300_000_000, '<x/>')), headers: BOOK })],
  ['a zip in a zip in a zip', 400, () => ({ body: zipOf({ 'a.zip': Buffer.from(zipOf({ 'a.zip': Buffer.from(zipOf({ a: 'a' })) })) }), headers: BOOK })],
  ['a workbook with an entity from elsewhere', 400, () => ({ body: workbookOf(entities), headers: BOOK })],
  ['a workbook with 2^20 rows', 400, () => ({ body: workbookOf(sheetOf(HEAD + '<row><c><v>1</v></c></row>'.repeat(2 ** 20 - 1))), headers: BOOK })],
  ['a workbook with 16,384 columns', 400, () => ({ body: workbookOf(sheetOf(textRow(1, ['id', ...Array.from({ length: 16_383 }, (_, n) => `c${n}`)]))), headers: BOOK })],
  ['a workbook with millions of attributes', 400, () => ({ body: workbookOf(`<a ${Array.from({ length: 2_000_000 }, (_, n) => `a${n}=""`).join(' ')}/>`), headers: BOOK })],
  ['a workbook with macros, by its name', 400, () => ({ body: workbookOf(sheetOf(HEAD), { 'xl/vbaProject.bin': 'x' }), path: '/v1/plans?name=a.xlsm', headers: BOOK })],
  ['NUL', 400, () => ({ body: '\0'.repeat(UPLOAD_BYTES) })],
  ['UTF-16', 400, () => ({ body: Buffer.from(`\ufeff${NEW}`, 'utf16le') })],
  ['one line without an end', 400, () => ({ body: `id,name\n${'x'.repeat(UPLOAD_BYTES - 10)}` })],
  ['a million columns', 400, () => ({ body: filled('id', ',c') })],
  ['five million rows', 400, () => ({ body: filled('id\n', '1\n') })],
  ['three million cells', 400, () => ({ body: filled(`id,${Array.from({ length: 990 }, (_, n) => `c${n}`).join(',')}\n`, `${'a,'.repeat(990)}a\n`) })],
  ['two files', 413, () => form(['name="file"; filename="a.csv"', NEW], ['name="file"; filename="b.csv"', NEW])],
  ['no file', 400, () => form(['name="other"', 'x'])],
  ['a field of the prototype', 400, () => form(['name="__proto__"', 'x'], ['name="constructor"; filename="a.csv"', NEW])],
  ['a form that ends too early', 400, () => ({ ...form(['name="file"; filename="a.csv"', NEW]), body: `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nid` })],
  ['a type that is no sheet', 415, () => ({ body: NEW, headers: { 'content-type': 'image/png' } })],
  ['a foreign origin', 403, () => ({ body: NEW, headers: { origin: 'https://evil.example' } })],
  ['no token', 401, () => ({ body: 'x'.repeat(UPLOAD_BYTES), headers: { authorization: '' } })],
];

describe.each(['sqlite', 'postgres'] as const)('uploads to serve on %s', (at) => {
  test('stay within their bounds, whatever is in them', async () => {
    const stage = await setStage(at);
    const files = readdirSync(stage.temp);
    const before = megabytes(stage);
    const end = pinging(stage);
    for (const [name, status, upload] of HOSTILE) {
      const sent = await send(stage, upload());
      expect([name, sent.status]).toEqual([name, status]);
      expect(sent.text).not.toContain(SECRET);
    }
    const added = await run(['users', 'add', 'Vera', '--role', 'viewer', '--json'], stage.env);
    const { token } = JSON.parse(added.stdout) as { readonly token: string };
    expect(await send(stage, { body: NEW, headers: { authorization: `Bearer ${token}` } })).toMatchObject({
      status: 403,
    });

    const large = filled('id,_version,name\n', '1,v,a\n', 4_000_000);
    const all = await Promise.all(Array.from({ length: 50 }, () => send(stage, { body: large })));
    expect(all.filter(({ status }) => ![400, 503].includes(status))).toEqual([]);
    const small = await Promise.all(Array.from({ length: 50 }, () => send(stage, { body: NEW })));
    expect(small.filter(({ status }) => status !== 201)).toEqual([]);
    const { longest, faults } = await end();
    expect(faults).toEqual([]);
    expect(longest).toBeLessThan(LONGEST_SILENCE);
    expect(megabytes(stage) - before).toBeLessThan(MOST_GROWTH);
    expect(readdirSync(stage.temp)).toEqual(files);
    expect(stage.log()).not.toContain(SECRET);
  });

  test('that are cut off, too long, too short or killed with serve leave nothing behind', async () => {
    const stage = await setStage(at);
    const files = readdirSync(stage.temp);
    write(stage, `content-length: ${UPLOAD_BYTES}`, NEW).destroy();
    for (const length of [5, 1_000_000]) write(stage, `content-length: ${length}`, NEW).end();
    expect(
      await send(stage, { body: NEW, path: '/v1/plans?kind=clients&name=..%2F..%2Fetc%2Fa%00%1b[31m.csv' }),
    ).toMatchObject({
      status: 201,
      text: expect.stringContaining('"origin":"a\ufffd\ufffd[31m.csv"') as string,
    });
    for (let one = 0; one < 8; one++) write(stage, `content-length: ${UPLOAD_BYTES}`, NEW); // They trickle, and stay.
    await expect.poll(async () => (await send(stage, { body: large() })).status).toBe(503);
    stage.program.child.kill('SIGKILL');
    await stage.program.ended;
    expect(readdirSync(stage.temp)).toEqual(files);
    const again = await serve(stage.env, stage.temp);
    expect((await send(again, { body: NEW })).status).toBe(201);
    expect(readdirSync(stage.temp)).toEqual(files);
    expect(stage.log() + again.log()).not.toContain(SECRET);
  });
});

const large = (): string => filled('id\n', '1\n', 1_000_000);
