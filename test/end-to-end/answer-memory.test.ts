import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { MAIN, runProgram } from '../support/program.ts';
import { PEAK_MEMORY } from '../support/peak-memory.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { sized } from '../support/tiers.ts';

const MOST_BYTES = 32_000_000;

/** A service in a thread of its own that answers each request with a head, and then with one block without end. */
async function startEndless(head: string, block: string): Promise<string> {
  const worker = new Worker(
    `const { workerData: { head, block }, parentPort } = require('node:worker_threads');
    const bytes = Buffer.from(block, 'latin1');
    require('node:net').createServer((socket) => {
      const more = () => { while (!socket.destroyed && socket.write(bytes)); };
      const answer = () => { socket.write(head + '\\r\\n\\r\\n'); more(); };
      socket.on('error', () => undefined).on('drain', more).on('data', () => undefined).once('data', answer);
    }).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port); });`,
    { eval: true, workerData: { head, block } },
  );
  onTestFinished(() => void worker.terminate());
  const [port] = (await once(worker, 'message')) as [number];
  return `http://127.0.0.1:${port}`;
}

interface Pulled {
  readonly reason: string;
  /** The most memory that the program took. */
  readonly peakBytes: number;
}

async function pull(service: string): Promise<Pulled> {
  const env = {
    DATABASE_URL: `file:${await grownMirror()}`,
    BMS_BASE_URL: service,
    BMS_TOKEN: 'none',
    BMS__SOURCE__MAX_ATTEMPTS: '1',
    BMS__SOURCE__TIMEOUT_SECONDS: String(sized({ quick: 2, acceptance: 4, deep: 4 })),
    BMS__SOURCE__MAX_BODY_BYTES: String(MOST_BYTES),
  };
  const ended = await runProgram(['pull', 'clients', '--json'], {
    env,
    main: ['--import', PEAK_MEMORY, MAIN],
  });
  const { kinds } = JSON.parse(ended.stdout) as { readonly kinds: readonly [{ readonly reason: string }] };
  const kilobytes = Number(ended.stderr.trimEnd().split('\n').at(-1));
  return { reason: kinds[0].reason, peakBytes: kilobytes * 1024 };
}

/** What a pull takes that is answered nothing. */
let leastBytes: number | null = null;

/** Eight times as much as is allowed, packed. */
const bomb = gzipSync(Buffer.alloc(8 * MOST_BYTES, ' ')).toString('latin1');
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked';

const ANSWERS = [
  ['in one piece', 'HTTP/1.1 200 OK', ' '.repeat(65_536)],
  ['packed', `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}`, bomb],
  ['in chunks of one byte', CHUNKED, '1\r\n \r\n'.repeat(10_000)],
  ['in chunks of one byte with long extensions', CHUNKED, `1;${'x'.repeat(65_000)}\r\n \r\n`],
] as const;

test.each(ANSWERS.slice(0, sized({ quick: 2, acceptance: 4, deep: 4 })))(
  'an answer without end takes no more than four times what is allowed: %s',
  async (...[, head, block]) => {
    leastBytes ??= (await pull(await startEndless('HTTP/1.1 503 Unavailable\r\ncontent-length: 0', '')))
      .peakBytes;
    const { reason, peakBytes } = await pull(await startEndless(head, block));
    expect(['too_big', 'timeout']).toContain(reason);
    expect(peakBytes - leastBytes).toBeLessThan(4 * MOST_BYTES);
  },
);
