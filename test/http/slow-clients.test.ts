import { createConnection, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/lib/time/clock.ts';
import { at, putChanges } from '../events/support.ts';
import { kindNamed, tempMirror } from '../store/temp-mirror.ts';
import { byTheClock } from '../support/tiers.ts';
import { httpClient } from './ask.ts';
import { TOKEN, serveMirror, type Stage } from './stage.ts';

/** The limits in miniature: what a server does at them is the same. `errors.test.ts` holds the figures themselves. */
const LIMITS = vi.hoisted(() => ({
  HEADERS_MS: 800,
  REQUEST_MS: 2_000,
  KEEP_ALIVE_MS: 1_500,
  CHECK_MS: 100,
  STILL_MS: 2_200,
  MAX_CONNECTIONS: 12,
}));
vi.mock('../../src/http/limits.ts', async (original) => ({
  ...(await original<Record<string, number>>()),
  ...LIMITS,
}));

const DRIP_MS = 40;
const CLOCK_MS = 50; // So much a timer may be early by the clock of another.

const stage = async (): Promise<Stage> => serveMirror(await tempMirror([kindNamed('clients')]));

interface Manner {
  readonly atOnce?: string;
  /** What follows byte by byte, again and again. */
  readonly drip?: string;
}

interface Cut {
  /** All that the server has said. */
  readonly text: string;
  readonly afterMs: number;
}

/** A client that never comes to the end of a request; resolves once the server has hung up. */
function slowly({ url }: Stage, { atOnce = '', drip = '' }: Manner): Promise<Cut> {
  const socket = connected(url);
  const born = performance.now();
  let text = '';
  let sent = 0;
  socket.on('data', (some: string) => (text += some));
  socket.write(atOnce);
  const dripping = setInterval(() => {
    if (drip !== '' && socket.writable) socket.write(drip.charAt(sent++ % drip.length));
  }, DRIP_MS);
  return new Promise((resolve) => {
    socket.on('close', () => {
      clearInterval(dripping);
      resolve({ text, afterMs: performance.now() - born });
    });
  });
}

function connected(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = createConnection({ host: hostname, port: Number(port) });
  socket.setEncoding('utf8');
  socket.on('error', () => undefined); // Anyone who goes on after the end of it hears of that so.
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

function openAt({ app }: Stage): Promise<number> {
  return new Promise((resolve) => {
    app.server.getConnections((_error, count) => {
      resolve(count);
    });
  });
}

function expectTooSlow(text: string): void {
  expect(text).toContain('HTTP/1.1 408 Request Timeout\r\n');
  expect(text).toContain('"code":"http.too_slow"');
}

const HEALTH = 'GET /health HTTP/1.1\r\nhost: localhost\r\n';
const HEADS: readonly (readonly [string, Manner])[] = [
  ['says nothing at all', {}],
  ['sends the head byte by byte', { drip: `${HEALTH}x: ` }],
  ['sends header after header', { atOnce: HEALTH, drip: 'x: y\r\n' }],
  ['stops in the middle of the head', { atOnce: 'GET /health HTTP/1.1\r\nhost: loc' }],
  ['begins another head where one was answered', { atOnce: `${HEALTH}\r\nGET /hea`, drip: 'l' }],
];

test('who comes to the end of no head is cut off once the time for a head is over, whatever they send', async () => {
  const made = await stage();
  const cuts = HEADS.map(async ([name, manner]) => ({ name, ...(await slowly(made, manner)) }));
  for (const { name, text, afterMs } of await Promise.all(cuts)) {
    expectTooSlow(text);
    expect(afterMs, name).toBeGreaterThan(LIMITS.HEADERS_MS - CLOCK_MS);
    expect(afterMs, name).toBeLessThan(byTheClock(LIMITS.REQUEST_MS));
  }
});

const TYPE = 'content-type: application/json\r\n';
const POST = `POST /v1/pulls HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\n${TYPE}`;
const LENGTH = 'content-length: 100000\r\n\r\n';
const BODIES: readonly Manner[] = [
  { atOnce: POST + LENGTH, drip: ' ' },
  { atOnce: `${POST}transfer-encoding: chunked\r\n\r\n`, drip: '1\r\n \r\n' },
  { atOnce: `${POST}${LENGTH}{"kinds"` },
];
test('who sends a body byte by byte, in bytes of chunks or never to its end is cut off too; others are answered meanwhile', async () => {
  const made = await stage();
  const ask = httpClient(made.url, 1);
  const slow = BODIES.map((manner) => slowly(made, manner));
  const over = { is: false };
  void Promise.race(slow).then(() => (over.is = true));
  let answered = 0;
  while (!over.is) {
    const { status } = await ask({ path: '/health' });
    expect(status).toBe(200);
    answered++;
    await systemClock.sleep(20); // A core is not kept busy by asking.
  }
  for (const { text, afterMs } of await Promise.all(slow)) {
    expectTooSlow(text);
    expect(afterMs).toBeGreaterThan(LIMITS.REQUEST_MS - CLOCK_MS);
  }
  expect(answered).toBeGreaterThan(0);
  expect(made.log.filter((line) => line.includes('"level":50'))).toEqual([]); // It is not a bug of ours.
});

test('who was answered and keeps the connection for nothing loses it, without a word', async () => {
  const { text, afterMs } = await slowly(await stage(), { atOnce: `${HEALTH}\r\n` });
  expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  expect(text).not.toContain('408');
  expect(afterMs).toBeGreaterThan(LIMITS.KEEP_ALIVE_MS - CLOCK_MS);
});

const wish = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`;

test('a crowd that says nothing is let go once the time for a head is over', async () => {
  const made = await stage();
  const crowd = Array.from({ length: LIMITS.MAX_CONNECTIONS + 5 }, () => slowly(made, {}));
  const texts = (await Promise.all(crowd)).map(({ text }) => text);
  expect(texts.filter((text) => text === '')).toHaveLength(5); // Refused without a word.
  expect((await fetch(`${made.url}/health`)).status).toBe(200);
});

test('who does not read what was asked for is cut off', async () => {
  const session = await tempMirror([kindNamed('clients')]);
  const row = { kind: 'clients', change: 'created', observed_at: at('12:00') };
  const after = `{"name":"${'x'.repeat(100_000)}"}`;
  await putChanges(
    session,
    ...Array.from({ length: 300 }, (_, id) => ({ ...row, record_id: `${id}`, after })),
  );
  const made = await serveMirror(session);
  const deaf = connected(made.url);
  deaf.pause();
  deaf.write(wish('/v1/changes?limit=300'));
  await expect.poll(() => openAt(made)).toBe(1);
  await expect.poll(() => openAt(made)).toBe(0);
});
