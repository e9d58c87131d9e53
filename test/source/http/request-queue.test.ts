import type { ServerResponse } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { byAnswerKind, documentedKind, open, sweepAll, ticker } from '../open-source.ts';
import { listBody, pageOf } from '../list-answers.ts';
import { gate } from '../../store/temp-mirror.ts';
import { send, serve, serveRaw } from '../../support/serve.ts';

const GOOD = listBody(1, 10, 3);

/** Fails the first `times` requests with a status, then answers well. */
function failing(
  times: number,
  status: number,
  headers: Record<string, string | string[]> = {},
): Promise<string> {
  let count = 0;
  return serve((_, response) => {
    if (count++ < times) response.writeHead(status, headers).end();
    else send(response, GOOD);
  });
}

describe('a rate', () => {
  test('spaces requests evenly', async () => {
    let requests = 0;
    const base = await serve((_, response) => {
      requests++;
      send(response, GOOD);
    });
    const { source, clock } = open(base, { requestsPerSecond: 2 });
    for (let round = 0; round < 4; round++) await source.probe(documentedKind);
    expect(requests).toBe(4);
    expect(clock.sleeps).toEqual([500, 500, 500]);
  });
});

describe('what may pass', () => {
  test.each([408, 425, 429, 500, 502, 503, 504, 599])('A23: status %d is asked again', async (status) => {
    const { source, clock } = open(await failing(2, status));
    expect(await sweepAll(source, byAnswerKind)).not.toHaveLength(0);
    expect(source.counts.retries).toBe(2);
    expect(clock.sleeps).toEqual([250, 500]); // Half of 500 and of 1000, with `random` at one half.
  });

  test('is given up after all attempts, the wait doubling up to half a minute', async () => {
    const { source, clock } = open(await failing(99, 503), { maxAttempts: 10 });
    await expect(sweepAll(source)).rejects.toMatchObject({ reason: 'unavailable', state: 'aborted' });
    expect(source.counts).toEqual({ requests: 11, retries: 9 }); // The last one for page 2.
    expect(clock.sleeps).toEqual([250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
  });

  test('B08: a service that goes on answering 429 is no service that is away', async () => {
    const { source } = open(await failing(99, 429, { 'retry-after': '1' }), { maxAttempts: 3 });
    await expect(sweepAll(source)).rejects.toMatchObject({
      reason: 'rate_limited',
      state: 'aborted',
      code: 'source.rate_limited',
      message: expect.stringContaining('got status 429 (too many requests)') as string,
      hint: expect.stringContaining('source.requestsPerSecond') as string,
    });
    expect(source.counts).toEqual({ requests: 3, retries: 2 });
  });

  test('B08: waits as long as it is asked to', async () => {
    const { source, clock } = open(await failing(1, 429, { 'retry-after': '7' }));
    await sweepAll(source);
    expect(clock.sleeps).toEqual([7000]);
  });

  test('B08: sends nothing else meanwhile', async () => {
    let requests = 0;
    const base = await serve((_, response) => {
      if (++requests === 1) response.writeHead(429, { 'retry-after': '7' }).end();
      else send(response, GOOD);
    });
    const { source, clock } = open(base);
    const { opened, open: passTime } = gate();
    const sleep = vi.spyOn(clock, 'sleep').mockReturnValue(opened);
    const waiting = sweepAll(source);
    await vi.waitFor(() => expect(sleep).toHaveBeenCalledTimes(1));
    const another = source.probe(documentedKind);
    await vi.waitFor(() => expect(sleep).toHaveBeenCalledTimes(2));
    expect(requests).toBe(1);
    passTime();
    await Promise.all([waiting, another]);
  });

  test('B08: of two headers the larger, of nonsense none', async () => {
    const two = open(await failing(1, 503, { 'retry-after': ['3', '9'] }));
    await sweepAll(two.source);
    const nonsense = open(await failing(1, 503, { 'retry-after': 'soon' }));
    await sweepAll(nonsense.source);
    expect([two.clock.sleeps, nonsense.clock.sleeps]).toEqual([[9000], [250]]);
  });

  test('B17, B18: a connection that is reset is tried again', async () => {
    const body = JSON.stringify(GOOD);
    const base = await serveRaw((socket, count) => {
      if (count < 3) socket.resetAndDestroy();
      else socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
    const { source } = open(base);
    await sweepAll(source);
    expect(source.counts).toEqual({ requests: 3, retries: 2 });
  });

  test('every attempt takes its own tick of sending', async () => {
    const { source } = open(await failing(2, 500));
    const responses = [];
    for await (const response of source.sweep(documentedKind, { thorough: false, tick: ticker() }))
      responses.push(response);
    expect(responses[0]).toMatchObject({ sent: 5, answered: 6 });
  });
});

describe('a service that cannot be reached', () => {
  test('B10, B17: costs the whole wait once, until any answer comes', async () => {
    let isUp = false;
    const base = await serveRaw((socket) => {
      if (isUp) socket.end('HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n');
      else socket.destroy();
    });
    const { source } = open(base);
    const requests = async (): Promise<number> => {
      const before = source.counts.requests;
      await expect(sweepAll(source)).rejects.toThrow();
      return source.counts.requests - before;
    };
    expect(await requests()).toBe(5);
    expect(await requests()).toBe(1);
    expect(await requests()).toBe(1);
    isUp = true;
    expect(await requests()).toBe(6);
  });

  test('B17: refused and unknown hosts are named', async () => {
    for (const base of ['http://127.0.0.1:1', 'http://no-such-host.invalid']) {
      const { source } = open(base, { maxAttempts: 1 });
      await expect(sweepAll(source)).rejects.toMatchObject({
        reason: 'unreachable',
        message: expect.stringMatching(/ECONNREFUSED|ENOTFOUND|EAI_AGAIN/) as string,
      });
    }
  });

  test('B17: TLS that fails is no reason to do without', async () => {
    const base = await serve((_, response) => {
      send(response, GOOD);
    });
    const { source } = open(base.replace('http:', 'https:'), { maxAttempts: 1 });
    await expect(sweepAll(source)).rejects.toMatchObject({ reason: 'unreachable' });
  });
});

describe('a sweep under way', () => {
  type Fault = (response: ServerResponse) => unknown;
  const withStatus =
    (status: number): Fault =>
    (response) =>
      response.writeHead(status).end();
  const withReset: Fault = (response) => response.socket?.destroy();

  /** A list of 30 pages; behind the first one, the service answers nothing usable until `awayMs` after the first fault. */
  async function away(awayMs: number, fault: Fault) {
    let sinceMs: number | null = null;
    const base = await serve((request, response) => {
      const { clock } = opened;
      if (pageOf(request) > 1 || sinceMs !== null) sinceMs ??= clock.monotonicMs();
      const isAway = sinceMs !== null && clock.monotonicMs() - sinceMs < awayMs;
      if (isAway) fault(response);
      else send(response, listBody(pageOf(request), 100, 3000));
    });
    const opened = open(base, { concurrency: 2 });
    return opened;
  }

  test.each([
    ['502', withStatus(502)],
    ['503', withStatus(503)],
    ['429 without Retry-After', withStatus(429)],
    ['a reset', withReset],
  ])('outlasts a minute of %s', async (_, fault) => {
    const { source } = await away(60_000, fault);
    const responses = await sweepAll(source);
    expect(new Set(responses.flatMap((response) => response.keys)).size).toBe(3000);
  });

  test('ends complete beside a limit by the minute that names no wait', async () => {
    let minute = -1;
    let count = 0;
    const base = await serve((request, response) => {
      const now = Math.floor(opened.clock.monotonicMs() / 60_000);
      count = now === minute ? count + 1 : 1;
      minute = now;
      if (count > 60) response.writeHead(429).end();
      else send(response, listBody(pageOf(request), 100, 20_000));
    });
    const opened = open(base, { concurrency: 1 });
    const responses = await sweepAll(opened.source);
    expect(new Set(responses.flatMap((response) => response.keys)).size).toBe(20_000);
  });

  test('waits no second minute, and not for a 500', async () => {
    const gone = await away(Infinity, withReset);
    await expect(sweepAll(gone.source)).rejects.toMatchObject({ reason: 'unreachable' });
    expect(gone.clock.monotonicMs()).toBeLessThan(5 * 60_000);
    const faulty = await away(20_000, withStatus(500));
    await expect(sweepAll(faulty.source)).rejects.toMatchObject({ reason: 'unavailable' });
    expect(faulty.clock.monotonicMs()).toBeLessThan(20_000);
  });

  test('is ended by its signal while it waits', async () => {
    const stop = new AbortController();
    const { source, clock } = await away(Infinity, (response) => {
      if (clock.monotonicMs() > 10_000) stop.abort();
      withReset(response);
    });
    const { signal } = stop;
    const drain = async (): Promise<void> => {
      const options = { thorough: false, tick: ticker(), signal };
      for await (const { page } of source.sweep(documentedKind, options)) expect(page).toBe(1);
    };
    await expect(drain()).rejects.toMatchObject({ reason: 'interrupted' });
  });
});
