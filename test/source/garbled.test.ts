import { describe, expect, test } from 'vitest';
import type { HttpClient, HttpAnswer } from '../../src/source/http/http.ts';
import type { Source } from '../../src/source/source.ts';
import type { ListResponse, SweepOptions } from '../../src/source/paging/list-responses.ts';
import type { KnownPage } from '../../src/source/paging/list-page.ts';
import { documentedKind, open, sweepAll, ticker } from './open-source.ts';
import { listBody, pageOf } from './list-answers.ts';
import { send, serve, serveRaw } from '../support/serve.ts';
import { randomNumbers } from '../support/random-numbers.ts';

const STRIDE = 10;
const TOTAL = 75;
const good = (page: number, total = TOTAL): object => listBody(page, STRIDE, total);

type Garble = (page: number, total: number) => unknown;

/** Ways to answer for a page with status 200 and nonsense. */
const GARBLED: Readonly<Record<string, Garble>> = {
  not_json: (page, total) => JSON.stringify(good(page, total)).slice(0, -20),
  html: () => '<!doctype html><p>Please wait',
  empty_body: () => '',
  not_utf8: () => Buffer.from([0x22, 0xff, 0x22]),
  success_false: () => ({ success: false, message: 'Too many connections' }),
  data_not_a_list: () => ({ success: true, data: 'later' }),
  bad_meta: (page, total) => ({ ...good(page, total), meta: 'later' }),
  page_grew: (page, total) => listBody(page, 2 * STRIDE, 3 * total),
  page_resized: (page, total) => listBody(page, STRIDE / 2, total),
  page_ignored: (_, total) => good(1, total),
  page_repeated: (page, total) => ({ ...good(page - 1, total), meta: [] }),
};

const idsOf = (responses: readonly ListResponse[]): Set<unknown> =>
  new Set(responses.flatMap(({ read }) => read()).map((record) => (record as { id: unknown }).id));

/** Serves the list; the answers with these numbers, from 1, are garbled. */
async function servePages(garble: Garble, isGarbled: (count: number, page: number) => boolean) {
  let count = 0;
  return open(
    await serve((request, response) => {
      const page = pageOf(request);
      send(response, isGarbled(++count, page) ? garble(page, TOTAL) : good(page));
    }),
    { concurrency: 1 },
  );
}

describe.each(Object.entries(GARBLED))('a garbled answer to a read: %s', (reason, garble) => {
  test('is asked for again, and the ticks are those of the answer that is used', async () => {
    const { source, clock } = await servePages(garble, (count) => count === 5); // Page 3, amid the others.
    const responses = await sweepAll(source);
    expect(responses.map(({ page }) => page)).toEqual([1, 8, 1, 2, 3, 4, 5, 6, 7]);
    expect(idsOf(responses).size).toBe(TOTAL);
    expect(source.counts).toEqual({ requests: 10, retries: 1 });
    expect(clock.sleeps).toEqual([250]);
    expect(responses.at(-1)?.walk).toMatchObject({ hasHoles: false, step: { phase: 'done' } });
    const before = responses[3];
    const again = responses[4];
    expect(again?.sent).toBeGreaterThan((before?.answered ?? Infinity) + 2);
    expect(again?.answered).toBeGreaterThan(again?.sent ?? Infinity);
  });

  test('that stays so after all attempts is no page of the list', async () => {
    const { source, clock } = await servePages(garble, (count, page) => count >= 5 && page === 3);
    const ended = await sweepAll(source).catch((error: unknown) => error);
    // A page may have become smaller in truth: then it is taken as it is.
    const ends: unknown =
      reason === 'page_resized'
        ? expect.any(Array)
        : expect.objectContaining(
            reason === 'page_ignored' ? { reason } : { reason: 'page_unread', state: 'invalid' },
          );
    expect(ended).toEqual(ends);
    expect(source.counts.retries).toBe(4);
    expect(clock.sleeps).toEqual([250, 500, 1000, 2000]);
  });
});

test('pages that have another size in truth are asked for again once a sweep, and never where holes are known', async () => {
  const serveHoles = () => servePages(GARBLED['page_resized'] ?? good, (count) => count > 2);
  const first = await serveHoles();
  const responses = await sweepAll(first.source);
  expect(first.source.counts.retries).toBe(4);
  expect(responses.at(-1)?.walk.hasHoles).toBe(true);

  const later = await serveHoles();
  const sweep = later.source.sweep(documentedKind, { thorough: true, hasHoles: true, tick: ticker() });
  const read: number[] = [];
  for await (const { page } of sweep) read.push(page);
  expect(read.length).toBeGreaterThan(1);
  expect(later.source.counts.retries).toBe(0);
});

test('what is lost and what is garbled share the attempts of a request', async () => {
  const { source } = await servePages(GARBLED['html'] ?? good, () => true);
  await expect(sweepAll(source)).rejects.toMatchObject({ reason: 'html' });
  expect(source.counts).toEqual({ requests: 6, retries: 4 }); // Page 2 shows no better.
});

test('a page whose records have changed is asked for again, too', async () => {
  let isGarbled = false;
  let count = 0;
  const base = await serve((request, response) => {
    const cut = isGarbled && ++count === 4;
    const text = JSON.stringify(good(pageOf(request))).replaceAll('"id"', isGarbled ? '"id" ' : '"id"');
    send(response, cut ? text.slice(0, -30) : text);
  });
  const { source } = open(base, { concurrency: 1 });
  const options: SweepOptions = { thorough: false, rulesDigest: 'digestScope', tick: ticker() };
  const known = new Map<number, KnownPage>();
  for await (const { page, pageHash: digest, keys } of source.sweep(documentedKind, options)) {
    if (digest === null) continue;
    known.set(page, { ...digest, keys });
  }
  isGarbled = true;
  const responses: ListResponse[] = [];
  for await (const response of source.sweep(documentedKind, { ...options, knownPages: known }))
    responses.push(response);
  expect(idsOf(responses).size).toBe(TOTAL);
  expect(source.counts.retries).toBe(1);
});

test('side by side, each page that was garbled is asked for again', async () => {
  const ways = Object.values(GARBLED);
  let count = 0;
  const seen = new Set<number>();
  const base = await serve((request, response) => {
    const page = pageOf(request);
    const isGarbled = ++count > 3 && page > 1 && !seen.has(page);
    if (count > 2) seen.add(page);
    send(response, isGarbled ? ways[page % ways.length]?.(page, TOTAL) : good(page));
  });
  const { source } = open(base);
  const sweeps = await Promise.all([sweepAll(source), sweepAll(source), sweepAll(source)]);
  for (const responses of sweeps) expect(idsOf(responses).size).toBe(TOTAL);
});

test('a closed source ends the wait for another answer', async () => {
  const { source } = await servePages(GARBLED['page_repeated'] ?? good, (count) => count > 4);
  const sweep = source.sweep(documentedKind, { thorough: false, tick: ticker() })[Symbol.asyncIterator]();
  for (let page = 0; page < 4; page++) await sweep.next();
  const ended = expect(sweep.next()).rejects.toMatchObject({ reason: 'interrupted' });
  await source.close();
  await ended;
});

describe('what is not asked again', () => {
  test.each([401, 403, 404, 302])('a refusal: status %d', async (status) => {
    const base = await serve((_, response) => {
      response.writeHead(status, { location: 'http://elsewhere/' }).end('<html>');
    });
    const { source } = open(base);
    await expect(sweepAll(source)).rejects.toMatchObject({ state: 'aborted' });
    expect(source.counts.requests).toBe(1);
  });

  test.each(['<html>', '{"success":false}', ''])('a write, whatever comes: %j', async (body) => {
    const base = await serve((_, response) => {
      send(response, body);
    });
    const { source } = open(base);
    for (const operation of ['create', 'update'] as const) {
      const id = operation === 'create' ? null : '7';
      await source.write({ kind: documentedKind, operation, id, body: '{}' });
    }
    expect(source.counts).toEqual({ requests: 2, retries: 0 });
  });
});

test('a record asked for by its id is asked for again', async () => {
  const bodies = ['<html>', { success: false }, { data: { id: 8 } }, { data: { id: 7 } }];
  const base = await serve((_, response) => {
    send(response, bodies.shift());
  });
  const { source } = open(base);
  expect(await source.retrieve(documentedKind, '7', { tick: ticker() })).toEqual({
    record: { id: 7 },
    sent: 7,
    answered: 8,
  });
  expect(source.counts).toEqual({ requests: 4, retries: 3 });
});

test('a range of pages is read the same way', async () => {
  const { source } = await servePages(GARBLED['page_ignored'] ?? good, (count) => count === 2);
  const pages: number[] = [];
  for await (const { page } of source.pages(documentedKind, { from: 3, to: 5 }, { tick: ticker() }))
    pages.push(page);
  expect(pages).toEqual([3, 4, 5]);
});

describe('a list that claims pages without end', () => {
  const claiming = (rows: number, meta: object) => (page: number) => ({
    data: (good(page) as { data: unknown[] }).data.slice(0, page === 1 ? rows : 0),
    meta: { current_page: page, per_page: STRIDE, ...meta },
  });

  test.each([
    ['and a total to match', claiming(STRIDE, { last_page: 1e9, total: 1e10 }), 'empty_pages'],
    ['and no total', claiming(STRIDE, { last_page: 1e9 }), null],
    ['and has no rows at all', claiming(0, { last_page: 1e9, total: 1e10 }), null],
  ])('%s ends soon, and proves nothing', async (_, answer, reason) => {
    const { source } = await servePages(answer, () => true);
    const ends: ListResponse['end'][] = [];
    const read = async (): Promise<string | null> => {
      for await (const { end } of source.sweep(documentedKind, { thorough: true, tick: ticker() }))
        ends.push(end);
      return null;
    };
    const ended = await read().catch((error: unknown) => (error as { reason: string }).reason);
    expect(ended).toBe(reason);
    expect(source.counts.requests).toBeLessThan(50);
  });

  test('the message says how many were empty, and where', async () => {
    const { source } = await servePages(claiming(STRIDE, { last_page: 1e9, total: 1e10 }), () => true);
    await expect(sweepAll(source)).rejects.toMatchObject({
      message:
        'GET /api/clients got 20 empty pages in a row, the last one page 21, expected records or the end of the list',
      state: 'invalid',
    });
  });

  test('nineteen empty pages in a row end nothing', async () => {
    const base = await serve((request, response) => {
      const page = pageOf(request);
      const rows = page > 1 && page < 21 ? 0 : STRIDE;
      send(response, listOf(page, rows, 25));
    });
    const { source } = open(base);
    const responses = await sweepAll(source, documentedKind, true);
    expect(idsOf(responses).size).toBe(6 * STRIDE);
  });

  const listOf = (page: number, rows: number, last: number): object => {
    const body = listBody(page, STRIDE, last * STRIDE) as { data: unknown[] };
    return { ...body, data: body.data.slice(0, rows) };
  };
});

describe('a list of 1,000 pages', () => {
  const PAGES = 1000;
  const ways = Object.values(GARBLED);

  /** A service without a network; of its answers four in 1,000 are garbled, at random. */
  function garblingService(seed: number): { readonly http: HttpClient; garbled: number } {
    const random = randomNumbers(seed);
    const service = {
      garbled: 0,
      http: {
        get: ({ target }: { readonly target: string }): Promise<HttpAnswer> => {
          const page = Number(new URL(target, 'http://x').searchParams.get('page') ?? 1);
          const isGarbled = random() < 4 / PAGES;
          if (isGarbled) service.garbled++;
          const way = ways[Math.floor(random() * ways.length)];
          const body = isGarbled && way ? way(page, PAGES * STRIDE) : listBody(page, STRIDE, PAGES * STRIDE);
          const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
          return Promise.resolve({ status: 200, headers: {}, bytes: Buffer.from(text) });
        },
        send: () => Promise.reject(new Error('no writes')),
        destroy: () => Promise.resolve(),
      } satisfies HttpClient,
    };
    return service;
  }

  test('with four garbled answers in 1,000 is read whole, in 99 of 100 sweeps at least', async () => {
    const sweeps = 15;
    let whole = 0;
    let garbled = 0;
    for (let sweep = 0; sweep < sweeps; sweep++) {
      const service = garblingService(sweep * 7919 + 1);
      const { source } = open('http://service', {}, () => service.http);
      const rows = await rowsRead(source);
      if (rows === PAGES * STRIDE) whole++;
      garbled += service.garbled;
      await source.close();
    }
    expect(garbled).toBeGreaterThan(3 * sweeps);
    expect(whole / sweeps).toBeGreaterThanOrEqual(0.99);
  });

  async function rowsRead(source: Source): Promise<number | null> {
    const keys = new Set<string>();
    try {
      for await (const response of source.sweep(documentedKind, { thorough: false, tick: ticker() })) {
        for (const key of response.keys) keys.add(key);
        if (response.walk.hasHoles) return null;
      }
      return keys.size;
    } catch {
      return null;
    }
  }
});

test('60 MB of backslashes in an answer that is no list are looked through once', async () => {
  const body = Buffer.alloc(60_000_000, '\\');
  const base = await serveRaw((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
  });
  const { source } = open(base, { maxAttempts: 1, maxBodyBytes: 1e8, timeoutSeconds: 60 });
  await expect(sweepAll(source)).rejects.toMatchObject({ reason: 'not_json' });
});
