import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { widest, widthFor } from '../../../src/source/http/turns.ts';
import type { ListResponse } from '../../../src/source/paging/sweep.ts';
import { documentedKind, listBody, open, pageOf, send, serve, ticker } from '../service.ts';

describe('how many requests are side by side', () => {
  test.each([
    [4, false, 4],
    [4, true, 8],
    [1, true, 2],
    [10, true, 16],
    [20, true, 20],
  ])('of %i allowed, for a list that moves: %s, are %i', (concurrency, isMoving, expected) => {
    expect(widthFor({ concurrency, isMoving, calmMs: Infinity })).toBe(expected);
  });

  test('is as the settings say for a quarter of an hour after the service has asked for patience', () => {
    expect(widthFor({ concurrency: 4, isMoving: true, calmMs: 899_999 })).toBe(4);
    expect(widthFor({ concurrency: 4, isMoving: true, calmMs: 900_000 })).toBe(8);
  });

  test('is never below what the settings allow, nor beyond twice that or a fixed limit', () => {
    const facts = fc.record({
      ...{ concurrency: fc.integer({ min: 1, max: 100 }), isMoving: fc.boolean(), calmMs: fc.nat() },
    });
    fc.assert(
      fc.property(facts, (given) => {
        const width = widthFor(given);
        expect(width).toBeGreaterThanOrEqual(given.concurrency);
        expect(width).toBeLessThanOrEqual(Math.max(given.concurrency, Math.min(2 * given.concurrency, 16)));
        expect(width).toBeLessThanOrEqual(widest(given.concurrency));
      }),
    );
  });
});

/** Reads a list of 31 pages, of which none is answered before as many are under way as can be. */
async function mostAtOnce(isMoving: boolean, refusals = 0): Promise<number> {
  const atOnce: number[] = [];
  const waiting: (() => void)[] = [];
  let refused = 0;
  const base = await serve((request, response) => {
    if (refused < refusals) {
      refused++;
      response.writeHead(429, { 'retry-after': '1' }).end('{"message":"slow down"}');
      return;
    }
    waiting.push(() => {
      send(response, listBody(pageOf(request), 10, 305));
    });
    atOnce.push(waiting.length);
    setImmediate(() => setImmediate(() => waiting.shift()?.()));
  });
  const { source } = open(base, { concurrency: 2 });
  const responses: ListResponse[] = [];
  for await (const response of source.sweep(documentedKind, { tick: ticker(), thorough: false, isMoving }))
    responses.push(response);
  expect(responses.length).toBeGreaterThan(30);
  return Math.max(...atOnce);
}

test('a list that moves is read with more requests at once than others', async () => {
  expect(await mostAtOnce(false)).toBeLessThanOrEqual(2);
  const most = await mostAtOnce(true);
  expect(most).toBeGreaterThan(2);
  expect(most).toBeLessThanOrEqual(4);
});

test('a service that answers 429 gets no more requests at once than the settings say', async () => {
  expect(await mostAtOnce(true, 1)).toBeLessThanOrEqual(2);
});

test('the next list is read as ever', async () => {
  let underWay = 0;
  let most = 0;
  const base = await serve((request, response) => {
    most = Math.max(most, ++underWay);
    response.on('finish', () => underWay--);
    send(response, listBody(pageOf(request), 10, 305));
  });
  const { source } = open(base, { concurrency: 1 });
  for (const isMoving of [true, false]) {
    most = 0;
    const pages: number[] = [];
    for await (const { page } of source.sweep(documentedKind, { tick: ticker(), thorough: false, isMoving }))
      pages.push(page);
    expect(pages.length).toBeGreaterThan(30);
  }
  expect(most).toBe(1);
});
