import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { byAnswerKind, documentedKind, open, sweepAll, ticker, TOKEN } from './open-source.ts';
import { listBody } from './list-answers.ts';
import { send, serve, serveProxy, serveRaw } from '../support/serve.ts';
import { noWrites } from '../support/no-writes.ts';

const aborted = (reason: string): object => ({ reason, state: 'aborted' });
const invalid = (reason: string): object => ({ reason, state: 'invalid' });
const GOOD = JSON.stringify(listBody(1, 10, 3));
const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

describe('the request', () => {
  test.each<[string, 'all' | 'documented' | readonly string[], string[]]>([
    ['all', 'all', ['authentication', 'authorization', 'authentification']],
    ['documented', 'documented', ['authentication']],
    ['a list', ['X-Token'], ['x-token']],
  ])('carries the token under %s spellings', async (_, authHeaders, names) => {
    let headers: IncomingHttpHeaders = {};
    const base = await serve((request, response) => {
      ({ headers } = request);
      send(response, GOOD);
    });
    await sweepAll(open(base, { authHeaders }).source);
    const carrying = Object.keys(headers).filter((name) => headers[name] === `Bearer ${TOKEN}`);
    expect(carrying.sort()).toEqual([...names].sort());
    expect(headers).toMatchObject({
      accept: 'application/json',
      'accept-encoding': 'gzip',
      'cache-control': 'no-cache',
      'user-agent': expect.stringMatching(/^bms-sync\/\d+\.\d+\.\d+/) as string,
    });
  });

  test('a probe is one request, with the one header that it tries', async () => {
    let headers: IncomingHttpHeaders = {};
    const base = await serve((request, response) => {
      ({ headers } = request);
      send(response, {}, 503);
    });
    const { source } = open(base);
    await expect(source.probe(documentedKind, 'Authorization')).rejects.toMatchObject(aborted('unavailable'));
    expect(source.counts).toEqual({ requests: 1, retries: 0 });
    expect(headers).toHaveProperty('authorization');
    expect(headers).not.toHaveProperty('authentication');
  });

  test('is one line in the log, without the token', async () => {
    const base = await serve((_, response) => {
      send(response, GOOD);
    });
    const { source, log } = open(base);
    await sweepAll(source);
    expect(JSON.parse(log())).toMatchObject({
      method: 'GET',
      path: '/api/clients',
      page: 1,
      status: 200,
      bytes: GOOD.length,
    });
    expect(log()).not.toContain(TOKEN);
  });

  test.each([
    ['that lets it through', true],
    ['that does not', false],
  ])('goes through a proxy %s', async (_, lets) => {
    const tunnelled: (string | undefined)[] = [];
    const base = await serve((_, response) => {
      send(response, GOOD);
    });
    const proxyUrl = await serveProxy((request, socket) => {
      tunnelled.push(request.url);
      if (!lets) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      const onward = connect(Number(new URL(base).port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        onward.pipe(socket).pipe(onward);
      });
      return onward.on('error', () => socket.destroy());
    });
    const sweep = sweepAll(open(base, { proxyUrl, maxAttempts: 1 }).source);
    if (lets) expect(await sweep).toHaveLength(1);
    else await expect(sweep).rejects.toMatchObject(aborted('unreachable'));
    expect(tunnelled).toEqual([new URL(base).host]);
  });

  test('asks a proxy that cuts the tunnel once an attempt', async () => {
    let tunnels = 0;
    const proxyUrl = await serveProxy((_, socket) => {
      tunnels++;
      socket.destroy();
    });
    const { source } = open('http://service.invalid', { proxyUrl, maxAttempts: 2 });
    await expect(sweepAll(source)).rejects.toMatchObject(aborted('unreachable'));
    expect(tunnels).toBe(2);
  });

  test.each([301, 302, 303, 307, 308])(
    'B06, B07: a redirect (%d) is never followed, and the token stays',
    async (status) => {
      let elsewhere = 0;
      const other = await serve((_, response) => {
        elsewhere++;
        send(response, GOOD);
      });
      const base = await serve((_, response) => {
        response.writeHead(status, { location: `${other}/login?secret=1` }).end();
      });
      const { source } = open(base);
      const error: unknown = await sweepAll(source).catch((error: unknown) => error);
      expect(error).toMatchObject(aborted('redirected'));
      expect(String(error)).not.toContain('secret');
      expect(elsewhere).toBe(0);
      expect(source.counts.requests).toBe(1);
    },
  );
});

describe('the body', () => {
  test('B14: a record nested deep costs the sweep nothing; the page is handed on whole', async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    const base = await serve((_, response) => {
      send(
        response,
        `{"data":[{"id":1},${deep}],"meta":{"current_page":1,"last_page":1,"per_page":25,"total":2}}`,
      );
    });
    const [response] = await sweepAll(open(base).source);
    expect(response?.rows).toBe(2);
    expect(response?.read()).toHaveLength(2);
  });

  test.each<[string, string, Buffer | string]>([
    ['B02', 'html', '<!doctype html><p>Please log in'],
    ['B02', 'html', '\n  <html>'],
    ['B05', 'empty_body', ''],
    ['B05', 'empty_body', ' \n'],
    ['B14', 'too_deep', `[1.5,${'['.repeat(200_000)}${']'.repeat(200_000)}]`],
    ['B16', 'not_utf8', Buffer.from('{"data":[{"name":"Caf\u00e9"}]}', 'latin1')],
    ['B16', 'not_utf8', Buffer.from('{"data":[]}', 'utf16le').swap16().fill(0xff, 0, 2)],
    ['B16', 'not_utf8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['B23', 'not_json', '{"data":[]} trailing'],
    ['B23', 'not_json', '{"data":[NaN]}'],
    ['B23', 'not_json', '{"data":[1,]}'],
    ['B23', 'not_json', '/* hello */ {"data":[]}'],
    ['B03', 'success_false', '{"success":false,"data":[]}'],
    ['B04', 'data_not_a_list', '{"success":true}'],
  ])('%s: is refused as %s once all attempts are used up', async (_, reason, body) => {
    const base = await serve((_, response) => {
      send(response, body);
    });
    const { source } = open(base);
    await expect(sweepAll(source)).rejects.toMatchObject(invalid(reason));
    expect(source.counts.requests).toBe(6); // The last one for page 2.
  });

  test('B05: 204 is an empty body', async () => {
    const base = await serve((_, response) => {
      response.writeHead(204).end();
    });
    await expect(sweepAll(open(base).source)).rejects.toMatchObject(invalid('empty_body'));
  });

  test('B16: a byte order mark is no fault', async () => {
    const base = await serve((_, response) => {
      send(response, `\uFEFF${GOOD}`);
    });
    expect(await sweepAll(open(base).source)).toHaveLength(1);
  });

  test('B22: the content type does not matter as long as the body is JSON', async () => {
    const base = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(GOOD);
    });
    expect(await sweepAll(open(base).source)).toHaveLength(1);
  });

  describe('packed', () => {
    const packed = (encoding: string, bytes: Buffer, status = 200): Promise<string> =>
      serve((_, response) => {
        response.writeHead(status, { 'content-encoding': encoding }).end(bytes);
      });

    test.each([
      ['gzip', gzipSync(GOOD)],
      ['GZIP', gzipSync(GOOD)],
      ['x-gzip', gzipSync(GOOD)],
      ['gzip', Buffer.concat([gzipSync(GOOD.slice(0, 9)), gzipSync(GOOD.slice(9))])],
      ['deflate', deflateSync(GOOD)],
      ['br', brotliCompressSync(GOOD)],
    ])('B13: by %s is read', async (encoding, bytes) => {
      expect(await sweepAll(open(await packed(encoding, bytes)).source)).toMatchObject([{ rows: 3 }]);
    });

    test.each([
      ['gzip', Buffer.from(GOOD)],
      ['gzip', gzipSync(GOOD).subarray(0, -9)],
      ['br', gzipSync(GOOD)],
      ['zstd', zstdCompressSync(GOOD)],
      ['gzip, gzip', gzipSync(gzipSync(GOOD))],
    ])('B13: by %s is refused where it cannot be unpacked', async (encoding, bytes) => {
      const base = await packed(encoding, bytes);
      await expect(sweepAll(open(base).source)).rejects.toMatchObject(invalid('not_json'));
    });

    test('has the status that it has, whether it can be unpacked or not', async () => {
      for (const bytes of [gzipSync('{"message":"wait"}'), Buffer.from('wait')]) {
        const base = await packed('gzip', bytes, 503);
        await expect(sweepAll(open(base).source)).rejects.toMatchObject(aborted('unavailable'));
      }
    });

    test.each([
      ['gzip', gzipSync(Buffer.alloc(200_000_000, ' '))],
      ['br', brotliCompressSync(Buffer.alloc(20_000_000, ' '), QUICK)],
    ])('B13: by %s is bounded by what is unpacked, and asked for once', async (encoding, bytes) => {
      expect(bytes.length).toBeLessThan(1_000_000);
      const { source } = open(await packed(encoding, bytes));
      await expect(sweepAll(source)).rejects.toMatchObject(aborted('too_big'));
      expect(source.counts.requests).toBe(1);
    });

    test('B13: is read up to the very bound', async () => {
      const body = GOOD.padEnd(1_000_000);
      expect(await sweepAll(open(await packed('gzip', gzipSync(body))).source)).toMatchObject([{ rows: 3 }]);
      const beyond = open(await packed('gzip', gzipSync(`${body} `))).source;
      await expect(sweepAll(beyond)).rejects.toMatchObject(aborted('too_big'));
    });

    test('is one record, too', async () => {
      const { source } = open(await packed('gzip', gzipSync('{"data":{"id":7}}')));
      expect((await source.retrieve(documentedKind, '7')).record).toEqual({ id: 7 });
    });
  });

  test('B12: a body beyond the cap is refused by its length, or while it streams', async () => {
    let streamed = 0;
    const endless = await serve((_, response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(10_000))) streamed += 10_000;
      };
      response.on('drain', more);
      more();
    });
    const declared = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 5_000_000_000 }).flushHeaders();
    });
    for (const base of [endless, declared]) {
      const { source } = open(base);
      await expect(sweepAll(source)).rejects.toMatchObject(aborted('too_big'));
      expect(source.counts.requests).toBe(1);
    }
    expect(streamed).toBeLessThan(50_000_000);
  });

  test('B01: a body cut anywhere is never taken for a whole one', async () => {
    const body = JSON.stringify(listBody(1, 100, 12));
    const ways = [
      (cut: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${cut}`,
      (cut: string) =>
        `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${cut}`,
      (cut: string) => `HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${cut}`,
    ];
    for (const way of ways) {
      let length = 0;
      const base = await serveRaw((socket) => socket.end(way(body.slice(0, length))));
      const { source } = open(base, { maxAttempts: 1 });
      for (; length < body.length; length++) {
        const error: unknown = await source.probe(documentedKind).catch((error: unknown) => error);
        expect(['unreachable', 'not_json', 'empty_body']).toContain((error as { reason?: string }).reason);
      }
    }
  });
});

test('an answer that is no HTTP is none', async () => {
  const base = await serveRaw((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
  const { source } = open(base, { maxAttempts: 2 });
  await expect(sweepAll(source)).rejects.toMatchObject(aborted('unreachable'));
  expect(source.counts.requests).toBe(2);
});

const LENGTH = `Content-Length: ${GOOD.length}`;

test.each([
  [
    'a length that comes twice',
    `HTTP/1.1 200 OK\r\n${LENGTH}\r\n${LENGTH}\r\n\r\n${GOOD}`,
    'names its length twice',
  ],
  [
    'lines that end in LF',
    `HTTP/1.1 200 OK\n${LENGTH}\n\n${GOOD}`,
    'Missing expected CR after response line',
  ],
  ['one line that ends in LF', `HTTP/1.1 200 OK\r\n${LENGTH}\nX: y\r\n\r\n${GOOD}`, 'end in LF'],
])('an answer with %s is named as that', async (_, answer, words) => {
  const base = await serveRaw((socket) => socket.end(answer));
  const error: unknown = await sweepAll(open(base, { maxAttempts: 1 }).source).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({
    ...aborted('unreachable'),
    message: expect.stringContaining(words) as string,
  });
});

test('an answer of gzip that is cut short is named as that', async () => {
  const base = await serve((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(GOOD).subarray(0, -9));
  });
  const error: unknown = await sweepAll(open(base).source).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    message: expect.stringContaining('a packed body that is cut short') as string,
  });
});

test('interim answers without end are no answer; a few are let pass', async () => {
  const early = 'HTTP/1.1 103 Early Hints\r\n\r\n';
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${GOOD.length}\r\n\r\n`;
  const few = await serveRaw((socket) => socket.write(early.repeat(32) + head + GOOD));
  expect(await sweepAll(open(few).source)).toHaveLength(1);
  const many = await serveRaw((socket) => socket.write(early.repeat(33)));
  const { source } = open(many, { maxAttempts: 2 });
  await expect(sweepAll(source)).rejects.toMatchObject(aborted('unreachable'));
  expect(source.counts.requests).toBe(2);
});

test('the network may be another than HTTP', async () => {
  const targets: string[] = [];
  const { source, log } = open('http://nowhere.invalid', {}, (settings) => ({
    get: ({ target, headers }) => {
      targets.push(target);
      expect(headers['Authentication']).toBe(`Bearer ${settings.token}`);
      return Promise.resolve({ status: 200, headers: {}, bytes: Buffer.from(GOOD) });
    },
    send: noWrites,
    destroy: () => Promise.resolve(),
  }));
  expect(await sweepAll(source)).toMatchObject([{ rows: 3, end: { rows: 3 } }]);
  expect(targets).toEqual(['/api/clients?page=1&per_page=100']);
  expect(log()).toContain(`"bytes":${GOOD.length}`);
});

describe('the deadline', () => {
  test('B11: covers a body that drips, and headers that never end', async () => {
    const drip = await serve((_, response) => {
      const timer = setInterval(() => response.write(' '), 10);
      response.on('close', () => {
        clearInterval(timer);
      });
    });
    const headers = await serveRaw((socket) => socket.write('HTTP/1.1 200 OK\r\nx-never:'));
    const silent = await serveRaw(() => undefined);
    for (const base of [drip, headers, silent]) {
      const { source } = open(base, { timeoutSeconds: 0.1, maxAttempts: 2 });
      await expect(sweepAll(source, byAnswerKind)).rejects.toMatchObject(aborted('timeout'));
      expect(source.counts).toEqual({ requests: 3, retries: 1 });
    }
  });
});

describe('messages', () => {
  test('say what, where, got and expected, and never show the token', async () => {
    const base = await serve((request, response) => {
      const echo = String(request.headers.authorization);
      send(response, `<p>${'x'.repeat(50)} ${echo}`);
    });
    const error: unknown = await sweepAll(open(base).source).catch((error: unknown) => error);
    expect(error).toMatchObject(invalid('html'));
    expect(String(error)).not.toContain(TOKEN.slice(0, 8));
  });

  test('tell the length of a body and quote nothing of it', async () => {
    const base = await serve((_, response) => {
      send(response, `<p>${'x'.repeat(5000)}`);
    });
    const error = (await sweepAll(open(base).source).catch((error: unknown) => error)) as Error;
    expect(error.message).toBe('GET /api/clients page 1: got a web page of 5003 bytes, expected JSON');
    expect(error).toMatchObject({
      code: 'source.html',
      hint: expect.stringContaining('source.baseUrl') as string,
    });
  });

  test.each<[number, string]>([
    [400, 'rejected'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [405, 'rejected'],
    [410, 'not_found'],
    [418, 'rejected'],
    [304, 'redirected'],
  ])('status %d is %s, at once', async (status, reason) => {
    const base = await serve((_, response) => {
      response.writeHead(status).end();
    });
    const { source } = open(base);
    await expect(sweepAll(source, byAnswerKind)).rejects.toMatchObject(aborted(reason));
    expect(source.counts.requests).toBe(1);
  });
});

describe('a refusal that is not in the words of the service', () => {
  test.each<[string, number, Record<string, string>, string]>([
    ['a web page of a firewall', 403, {}, '<html><h1>Attention Required!</h1>'],
    ['a web page without an opening tag', 403, {}, 'Access denied'],
    [
      'a sign-in page of a proxy',
      401,
      { 'www-authenticate': 'Basic' },
      '<h1>401 Authorization Required</h1>',
    ],
    ['a page of a filter', 406, {}, '<h1>Not Acceptable!</h1>'],
    [
      'JSON that a firewall marks as its own',
      403,
      { 'x-amzn-waf-action': 'block' },
      '{"message":"Forbidden"}',
    ],
    ['a page that squid marks as its own', 403, { 'x-squid-error': 'ERR_ACCESS_DENIED 0' }, ''],
  ])('%s says nothing about the token', async (_, status, headers, body) => {
    const base = await serve((_request, response) => response.writeHead(status, headers).end(body));
    const { source } = open(base);
    const refused = aborted('blocked');
    await expect(sweepAll(source, byAnswerKind)).rejects.toMatchObject(refused);
    await expect(source.retrieve(documentedKind, '7')).rejects.toMatchObject(refused);
    expect(source.counts.requests).toBe(2);
  });

  test('in its own words is one', async () => {
    for (const body of ['{"message":"This action is unauthorized."}', '']) {
      const base = await serve((_, response) => response.writeHead(403).end(body));
      await expect(sweepAll(open(base).source)).rejects.toMatchObject(aborted('forbidden'));
    }
  });
});

describe('one record', () => {
  const retrieve = async (body: unknown, status = 200): Promise<unknown> => {
    const base = await serve((request, response) => {
      expect(request.url).toBe('/api/clients/7');
      send(response, body, status);
    });
    return (await open(base).source.retrieve(documentedKind, '7')).record;
  };

  test('is unwrapped, and none is null', async () => {
    expect(await retrieve({ data: { id: 7, name: 'x' } })).toEqual({ id: 7, name: 'x' });
    expect(await retrieve({ data: [], success: true })).toBeNull();
    expect(await retrieve({ message: 'no such client' }, 404)).toBeNull();
    expect(await retrieve({ success: false }, 410)).toBeNull();
  });

  test('comes with the ticks of its request, those of the last attempt', async () => {
    let requests = 0;
    const base = await serve((_, response) => {
      send(response, { data: { id: 7 } }, ++requests === 1 ? 503 : 200);
    });
    const answer = await open(base).source.retrieve(documentedKind, '7', { tick: ticker() });
    expect(answer).toEqual({ record: { id: 7 }, sent: 3, answered: 4 });
  });

  test('is no longer waited for once a signal fires', async () => {
    const abort = new AbortController();
    const base = await serve(() => {
      abort.abort();
    });
    const retrieval = open(base).source.retrieve(documentedKind, '7', { signal: abort.signal });
    await expect(retrieval).rejects.toMatchObject(aborted('interrupted'));
  });

  test('is not said to be gone by a web page, nor by another record', async () => {
    await expect(retrieve('<h1>Not Found</h1>', 404)).rejects.toMatchObject(aborted('not_found'));
    await expect(retrieve('', 410)).rejects.toMatchObject(aborted('not_found'));
    await expect(retrieve({ data: { id: 8 } })).rejects.toMatchObject(invalid('wrong_record'));
  });
});
