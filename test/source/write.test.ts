import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { vehicleBrands } from '../../src/catalog/kinds/vehicle-brands.ts';
import { departments } from '../../src/catalog/kinds/departments.ts';
import { compactJson } from '../../src/lib/json/json.ts';
import type { Source } from '../../src/source/source.ts';
import type { WriteAnswer } from '../../src/source/http/write-answer.ts';
import type { SourceSettings } from '../../src/source/http/http.ts';
import { gate } from '../store/temp-mirror.ts';
import { noWrites } from '../support/no-writes.ts';
import { freePort } from '../support/redis-server.ts';
import { SELF_SIGNED } from './self-signed.ts';
import { deadlinesAfter, documentedKind, open, TOKEN } from './open-source.ts';
import { send, serve, serveProxy, serveRaw, serveSockets, untilTestEnds } from '../support/serve.ts';

const CREATE = { kind: documentedKind, operation: 'create', id: null, body: '{"code":"A1"}' } as const;
const UPDATE = { kind: documentedKind, operation: 'update', id: '7', body: '{"city":"Amqui"}' } as const;

const writeTo = (base: string, settings: Partial<SourceSettings> = {}): Promise<WriteAnswer> =>
  open(base, settings).source.write(CREATE);

/** An address at which nobody listens. */
const closedPort = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`;

const https = (base: string): string => base.replace('http:', 'https:');

describe('the request', () => {
  async function requestOf(write: (source: Source) => Promise<WriteAnswer>, settings = {}) {
    let seen: { request: IncomingMessage; body: string } | undefined;
    const base = await serve((request, response) => {
      void text(request).then((body) => {
        seen = { request, body };
        send(response, { id: 1 });
      });
    });
    await write(open(`${base}/tenant/`, settings).source);
    if (!seen) throw new Error('no request came');
    return { ...seen, method: seen.request.method, url: seen.request.url, headers: seen.request.headers };
  }

  test('of a create is a POST, with the body as given', async () => {
    const body = '{"name":"Été", "credit":10.00}';
    const seen = await requestOf((source) => source.write({ ...CREATE, body }));
    expect(seen).toMatchObject({ method: 'POST', url: '/tenant/api/clients', body });
    expect(seen.headers).toMatchObject({
      accept: 'application/json',
      'content-type': 'application/json',
      'accept-encoding': 'gzip',
      'cache-control': 'no-cache',
      'user-agent': expect.stringMatching(/^bms-sync\/\d/) as string,
      connection: 'close',
      'content-length': String(Buffer.byteLength(body)),
      authorization: `Bearer ${TOKEN}`,
      authentication: `Bearer ${TOKEN}`,
      authentification: `Bearer ${TOKEN}`,
    });
    expect(seen.headers).not.toHaveProperty('expect');
  });

  test('of an update is a PUT to the encoded id', async () => {
    const seen = await requestOf((source) => source.write({ ...UPDATE, id: 'a/b ?' }));
    expect(seen).toMatchObject({ method: 'PUT', url: '/tenant/api/clients/a%2Fb%20%3F', body: UPDATE.body });
  });

  test('carries the token under the header documented for the endpoint, where the settings say so', async () => {
    const seen = await requestOf((source) => source.write({ ...CREATE, kind: vehicleBrands }), {
      authHeaders: 'documented',
    });
    expect(seen.headers).toHaveProperty('authentification');
    expect(seen.headers).not.toHaveProperty('authorization');
  });

  test('has a connection of its own, that is closed afterwards', async () => {
    const sockets: Socket[] = [];
    const base = await serve(({ socket }, response) => {
      sockets.push(socket);
      send(response, { id: 1 });
    });
    const { source } = open(base);
    await source.write(CREATE);
    await source.write(UPDATE);
    expect(new Set(sockets).size).toBe(2);
    await expect.poll(() => sockets.every(({ destroyed }) => destroyed)).toBe(true);
  });

  test('is counted, and one line in the log, without body and token', async () => {
    const base = await serve((_, response) => {
      send(response, '{"id":1}');
    });
    const { source, log } = open(base);
    await source.write(UPDATE);
    expect(source.counts).toEqual({ requests: 1, retries: 0 });
    const line = { method: 'PUT', path: '/api/clients/7', status: 200, bytes: 8, msg: 'source request' };
    expect(JSON.parse(log())).toMatchObject(line);
    expect(log()).not.toContain(TOKEN);
    expect(log()).not.toContain('Amqui');
  });

  test('is paced with all others', async () => {
    const base = await serve((_, response) => {
      send(response, { id: 1 });
    });
    const { source, clock } = open(base, { requestsPerSecond: 2 });
    await source.write(CREATE);
    await source.write(CREATE);
    expect(clock.sleeps).toEqual([500]);
  });
});

describe('answered', () => {
  async function answerOf(body: unknown, status = 200, headers: Record<string, string> = {}) {
    const base = await serve((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
    });
    const answer = await writeTo(base);
    if (answer.is !== 'answered') throw new Error(`${answer.is}: ${answer.why}`);
    return answer;
  }

  test('is whatever the service says, its numbers as they came', async () => {
    const answer = await answerOf('{"data":{"id":7,"credit":10.00}}', 201);
    expect(answer).toMatchObject({ is: 'answered', status: 201, retryAfterMs: null });
    expect(compactJson(answer.body ?? null)).toBe('{"data":{"id":7,"credit":10.00}}');
    expect(answer.start).toBe('{"data":{"id":7,"credit":10.00}}');
  });

  test('is read packed, too; what cannot be unpacked is an answer without a usable body', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const answer = await answerOf(gzipSync('{"data":{"id":7}}'), 201, headers);
    expect(answer).toMatchObject({ status: 201, body: { data: { id: 7 } }, start: '{"data":{"id":7}}' });
    expect(await answerOf('{"data":{"id":7}}x', 201, headers)).toMatchObject({
      status: 201,
      body: undefined,
    });
  });

  test.each([400, 401, 403, 404, 409, 422, 500, 503])('is so with status %d too', async (status) => {
    expect(await answerOf({ success: false }, status)).toMatchObject({ status, body: { success: false } });
  });

  test.each<[string, string, number | null]>([
    ['seconds', '7', 7000],
    ['nonsense', 'soon', null],
  ])('reads Retry-After: %s', async (_, value, retryAfterMs) => {
    expect(await answerOf({}, 429, { 'retry-after': value })).toMatchObject({ status: 429, retryAfterMs });
  });

  test.each([301, 302, 303, 307, 308])(
    'B06, B07: a redirect (%d) is an answer, not followed',
    async (code) => {
      let elsewhere = 0;
      const other = await serve((_, response) => {
        elsewhere++;
        send(response, { id: 1 });
      });
      expect(await answerOf('', code, { location: other })).toMatchObject({ status: code, body: undefined });
      expect(elsewhere).toBe(0);
    },
  );

  test.each<[string, Buffer | string, number, string]>([
    ['a web page', '<h1>Panne</h1>', 500, '<h1>Panne</h1>'],
    ['nothing', '', 204, ''],
    ['cut JSON', '{"data":{"id":7', 200, '{"data":{"id":7'],
    ['bytes that are no UTF-8', Buffer.from('"\u00e9"', 'latin1'), 200, '"\ufffd"'],
    ['NUL', 'a\0b', 200, 'a\ufffdb'],
  ])('has no body where it is %s, but a beginning that can be stored', async (_, body, status, start) => {
    expect(await answerOf(body, status)).toMatchObject({ status, body: undefined, start });
  });

  test('B14: JSON nested deep is no body', async () => {
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
    expect(await answerOf(`{"id":1,"tasks":${deep}}`)).toHaveProperty('body', undefined);
  });

  test('begins with no more than 500 characters, none of them cut in two', async () => {
    const { start } = await answerOf(`${'x'.repeat(499)}😀😀`);
    expect(start).toBe('x'.repeat(499));
  });

  test.each([
    ['plain', TOKEN],
    ['with slashes, in JSON', 'to/ken+1234'],
    ['in a URL', 'to ken/1234'],
  ])('never shows the token at its beginning: %s', async (_, token) => {
    const spellings = [token, JSON.stringify(token), token.replaceAll('/', '\\/'), encodeURIComponent(token)];
    for (const padding of [0, 480, 495, 499]) {
      const base = await serve((_, response) => {
        send(response, `${'x'.repeat(padding)} ${spellings.join(' ')} ${'y'.repeat(1000)}`);
      });
      const answer = await open(base, { token }).source.write(CREATE);
      const start = answer.is === 'answered' ? answer.start : '';
      expect(start).toContain('xx'.slice(0, padding));
      expect(start).not.toContain(token.slice(0, 4));
    }
  });

  test('may be ended by the end of its connection', async () => {
    const base = await serveRaw((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n{"id":7}'));
    expect(await writeTo(base)).toMatchObject({ is: 'answered', body: { id: 7 } });
  });

  test('may follow an interim answer', async () => {
    const base = await serveRaw((socket) =>
      socket.end('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n{"id":7}'),
    );
    expect(await writeTo(base)).toMatchObject({ is: 'answered', status: 200, body: { id: 7 } });
  });

  test('comes through a proxy that tunnels', async () => {
    const base = await serve((_, response) => {
      send(response, { id: 7 });
    });
    expect(await writeTo(base, { proxyUrl: await tunnel(base) })).toMatchObject({ body: { id: 7 } });
  });
});

/** A proxy that tunnels to this server. */
async function tunnel(base: string): Promise<string> {
  const { connect } = await import('node:net');
  return serveProxy((_, socket) => {
    const onward = connect(Number(new URL(base).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
}

describe('unsent', () => {
  const unsent = (why: string | RegExp): object => ({
    is: 'unsent',
    why: typeof why === 'string' ? why : (expect.stringMatching(why) as string),
  });

  test('B17: where nobody listens', async () => {
    expect(await writeTo(await closedPort())).toEqual(unsent('ECONNREFUSED'));
  });

  test('B17: where the name is unknown', async () => {
    expect(await writeTo('http://nowhere.invalid')).toEqual(unsent(/^(ENOTFOUND|EAI_AGAIN)$/));
  });

  test('B17: where nobody vouches for the certificate, directly and through a proxy', async () => {
    let requests = 0;
    const server = createTlsServer(SELF_SIGNED, (_, response: ServerResponse) => {
      requests++;
      send(response, { id: 1 });
    });
    const base = https((await untilTestEnds(server)).url);
    for (const proxyUrl of [null, await tunnel(base)])
      expect(await writeTo(base, { proxyUrl })).toEqual(unsent('DEPTH_ZERO_SELF_SIGNED_CERT'));
    expect(requests).toBe(0);
  });

  test('B17: where the other side speaks no TLS', async () => {
    const base = await serveRaw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await writeTo(https(base))).toEqual(unsent(/^(EPROTO|ERR_SSL_)/));
  });

  test('where the connection is cut before TLS is agreed', async () => {
    const base = await serveRaw((socket) => socket.resetAndDestroy());
    expect(await writeTo(https(base))).toEqual(unsent('ECONNRESET'));
  });

  test('where it may not go any more once the connection is there', async () => {
    const requests: string[] = [];
    const base = await serve((request, response) => {
      requests.push(String(request.method));
      send(response, { id: 1 });
    });
    const { source } = open(base);
    expect(await source.write(CREATE, { canSend: () => false })).toEqual(unsent('paused'));
    expect(requests).toEqual([]);
    expect(await source.write(CREATE, { canSend: () => true })).toMatchObject({ is: 'answered' });
    expect(requests).toEqual(['POST']);
  });

  test('where no connection comes about in time', async () => {
    const base = await serveSockets(() => undefined);
    expect(await writeTo(https(base), { timeoutSeconds: 0.1 })).toEqual(unsent('timeout'));
  });

  test.each<[string, (socket: Duplex) => unknown, string | RegExp]>([
    ['refuses', (socket) => socket.end('HTTP/1.1 407 No\r\n\r\n'), 'proxy_answered_407'],
    ['cuts', (socket) => socket.destroy(), 'UND_ERR_PRX_CONN'],
    ['talks nonsense', (socket) => socket.end('nonsense\r\n\r\n'), 'HPE_INVALID'],
    ['never answers', () => undefined, 'timeout'],
  ])('where the proxy %s', async (_, behave, why) => {
    let tunnels = 0;
    const proxyUrl = await serveProxy((_, socket) => {
      tunnels++;
      behave(socket);
    });
    const settings = { proxyUrl, timeoutSeconds: why === 'timeout' ? 1 : 5 };
    expect(await writeTo('http://service.invalid', settings)).toEqual(unsent(why));
    expect(tunnels).toBe(1);
  });

  test('where no TLS comes about behind the proxy: in time, or before we stop', async () => {
    const closed: boolean[] = [];
    let begun = 0;
    const base = await serveSockets((socket) => {
      begun++;
      socket.on('close', () => closed.push(true)).resume();
    });
    const proxyUrl = await tunnel(base);
    expect(await writeTo(https(base), { proxyUrl, timeoutSeconds: 0.1 })).toEqual(unsent('timeout'));

    const abort = new AbortController();
    const writing = open(https(base), { proxyUrl }).source.write(CREATE, { signal: abort.signal });
    await expect.poll(() => begun).toBe(2);
    abort.abort();
    expect(await writing).toEqual(unsent('interrupted'));
    await expect.poll(() => closed.length).toBe(2);
  });

  test('where there is no proxy', async () => {
    const proxyUrl = await closedPort();
    expect(await writeTo('http://service.invalid', { proxyUrl })).toEqual(unsent('ECONNREFUSED'));
  });

  test('where the signal has fired, or fires while others are before it', async () => {
    const base = await serveRaw(() => undefined);
    const { source } = open(base, { concurrency: 1 });
    const signal = AbortSignal.abort();
    expect(await source.write(CREATE, { signal })).toEqual(unsent('interrupted'));
    expect(source.counts.requests).toBe(0);

    const abort = new AbortController();
    const before = source.write(CREATE);
    const waiting = source.write(CREATE, { signal: abort.signal });
    abort.abort();
    expect(await waiting).toEqual(unsent('interrupted'));
    await source.close();
    expect(await before).toMatchObject({ why: 'interrupted' });
    expect(source.counts.requests).toBe(1);
  });

  test('where the signal fires while it connects; then it stops connecting', async () => {
    const abort = new AbortController();
    let isClosed = false;
    const base = await serveSockets((socket) => {
      socket.on('close', () => (isClosed = true)).resume();
      abort.abort();
    });
    const { source } = open(https(base), { timeoutSeconds: 60 });
    expect(await source.write(CREATE, { signal: abort.signal })).toEqual(unsent('interrupted'));
    await expect.poll(() => isClosed).toBe(true);
  });

  test('is one line in the log', async () => {
    const { source, log } = open(await closedPort());
    await source.write(CREATE);
    expect(JSON.parse(log())).toMatchObject({ method: 'POST', path: '/api/clients', status: null, bytes: 0 });
    expect(source.counts).toEqual({ requests: 1, retries: 0 });
  });
});

describe('lost', () => {
  const lost = (why: string | RegExp): object => ({
    is: 'lost',
    why: typeof why === 'string' ? why : (expect.stringMatching(why) as string),
  });
  const CUT = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|HPE_\w+)$/;

  test('where the connection is cut before anything was read', async () => {
    let connections = 0;
    const base = await serveSockets((socket) => {
      connections++;
      const cut = (): void => {
        unsubscribe('undici:request:bodySent', cut);
        socket.resetAndDestroy();
      };
      subscribe('undici:request:bodySent', cut);
    });
    expect(await writeTo(base)).toEqual(lost(CUT));
    expect(connections).toBe(1);
  });

  test.each<[string, (socket: Socket) => unknown, string | RegExp]>([
    ['reset', (socket) => socket.resetAndDestroy(), CUT],
    ['ended', (socket) => socket.end(), CUT],
    ['ended in the status line', (socket) => socket.end('HTTP/1.1 20'), CUT],
    ['ended in the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-'), CUT],
    ['ended before the body', (socket) => socket.end(answer('')), CUT],
    ['ended within the body', (socket) => socket.end(answer('{"id"')), CUT],
    ['reset within the body', (socket) => socket.write(answer('{"id"'), () => socket.resetAndDestroy()), CUT],
    ['ended within a chunk', (socket) => socket.end(chunked('8\r\n{"id"')), CUT],
    ['ended before the last chunk', (socket) => socket.end(chunked('8\r\n{"id":7}\r\n')), CUT],
    ['answered in no HTTP', (socket) => socket.end('{"id":7}'), CUT],
    ['answered with 100', (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), CUT],
    [
      'answered by interim answers alone',
      (socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(33)),
      'too_many_interim_answers',
    ],
    ['never answered', () => undefined, 'timeout'],
    ['never answered to the end', (socket) => socket.write(answer('{"id"')), 'timeout'],
    ['answered by too much, as announced', (socket) => socket.write(answer('', 5_000_000)), 'too_big'],
    ['answered by too much, once it is unpacked', (socket) => socket.end(BOMB), 'too_big'],
    ['answered by too much', (socket) => socket.end(answer('x'.repeat(2_000_000), null)), 'too_big'],
  ])('where the connection is %s', async (_, behave, why) => {
    let connections = 0;
    const sent = gate();
    const base = await serveSockets((socket) => {
      connections++;
      socket.once('data', () => behave(socket)).once('data', sent.open);
    });
    if (why === 'timeout') deadlinesAfter(sent.opened);
    expect(await writeTo(base)).toEqual(lost(why));
    expect(connections).toBe(1); // Whatever happened, it is not sent again.
  });

  test('B11: where the answer drips beyond the deadline', async () => {
    const dripping = gate();
    const base = await serve((_, response) => {
      const timer = setInterval(() => response.write(' ', dripping.open), 10);
      response.on('close', () => {
        clearInterval(timer);
      });
    });
    deadlinesAfter(dripping.opened);
    expect(await writeTo(base)).toEqual(lost('timeout'));
  });

  test('B21: where it is answered before all of it was sent', async () => {
    const base = await serveSockets((socket) => {
      socket.write(answer('{"id":7}')); // And reads nothing.
    });
    const body = JSON.stringify({ note: 'x'.repeat(20_000_000) });
    expect(await open(base).source.write({ ...CREATE, body })).toEqual(lost('answered_early'));
  });

  test('where we stop waiting', async () => {
    const abort = new AbortController();
    const base = await serveRaw(() => {
      abort.abort();
    });
    expect(await open(base).source.write(CREATE, { signal: abort.signal })).toEqual(lost('interrupted'));
  });

  test('where the source is closed meanwhile', async () => {
    let source: Source | null = null;
    const base = await serveRaw(() => void source?.close());
    ({ source } = open(base));
    expect(await source.write(CREATE)).toEqual(lost('interrupted'));
  });
});

const BOMB = Buffer.concat([
  Buffer.from('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n'),
  gzipSync(' '.repeat(2_000_000)),
]);

/** An answer that announces as many bytes as are given, or eight. */
function answer(body: string, length: number | null = 8): string {
  return `HTTP/1.1 200 OK\r\n${length === null ? '' : `content-length: ${length}\r\n`}\r\n${body}`;
}

const chunked = (body: string): string => `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}`;

test('is never unsent once the other side has a byte, whenever either side gives up', async () => {
  const outcomes = new Set<string>();
  for (let turn = 0; turn < 150; turn++) {
    let bytes = 0;
    const abort = new AbortController();
    const base = await serveSockets((socket) => {
      socket.on('data', (chunk) => (bytes += chunk.length));
      if (turn % 3 === 0) socket.resetAndDestroy();
      else if (turn % 3 === 1) setImmediate(() => socket.resetAndDestroy());
    });
    const { source } = open(base);
    const writing = source.write(CREATE, { signal: abort.signal });
    let left = turn % 10;
    const step = (): void => {
      if (left-- > 0) setImmediate(step);
      else abort.abort();
    };
    step();
    const { is } = await writing;
    await new Promise((resolve) => setTimeout(resolve, 2));
    outcomes.add(is);
    if (is === 'unsent') expect(bytes).toBe(0);
  }
  expect([...outcomes].sort()).toEqual(['lost', 'unsent']);
});

describe('bugs', () => {
  test('throw: an operation that the kind does not have, an update of nothing', async () => {
    const { source } = open('http://nowhere.invalid');
    await expect(source.write({ ...CREATE, kind: departments })).rejects.toThrow(TypeError);
    await expect(source.write({ ...UPDATE, id: null })).rejects.toThrow(TypeError);
  });

  test('throw, and let the next one have its turn', async () => {
    const { source } = open('http://nowhere.invalid', { concurrency: 1 }, () => ({
      get: () => Promise.reject(new Error('no reads here')),
      send: noWrites,
      destroy: () => Promise.resolve(),
    }));
    await expect(source.write(CREATE)).rejects.toThrow('only read');
    await expect(source.write(CREATE)).rejects.toThrow('only read');
  });
});

test('the network may be another than HTTP', async () => {
  const { source } = open('http://nowhere.invalid', {}, () => ({
    get: () => Promise.reject(new Error('no reads here')),
    send: ({ method, target, headers, body }) => {
      expect([method, target, body]).toEqual(['PUT', '/api/clients/7', UPDATE.body]);
      expect(headers['Authentication']).toBe(`Bearer ${TOKEN}`);
      return Promise.resolve({ is: 'answered', status: 200, headers: {}, bytes: Buffer.from('{"id":7}') });
    },
    destroy: () => Promise.resolve(),
  }));
  expect(await source.write(UPDATE)).toMatchObject({ is: 'answered', body: { id: 7 } });
});
