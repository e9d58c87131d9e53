import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import type { Source } from '../../../src/source/source.ts';
import type { ListResponse } from '../../../src/source/paging/sweep.ts';
import { byAnswerKind, documentedKind, listBody, open, pageOf, send, serve, ticker } from '../service.ts';

async function read(
  source: Source,
  [from, to]: readonly [number, number],
  kind = documentedKind,
): Promise<ListResponse[]> {
  const responses: ListResponse[] = [];
  for await (const response of source.pages(kind, { from, to }, { tick: ticker() })) responses.push(response);
  return responses;
}

const pages = (responses: readonly ListResponse[]): number[] => responses.map(({ page }) => page);

/** A service of which each page is what `answer` says; it notes which pages were asked for. */
async function served(answer: (page: number) => unknown): Promise<{ source: Source; asked: number[] }> {
  const asked: number[] = [];
  const base = await serve((request: IncomingMessage, response) => {
    asked.push(pageOf(request));
    send(response, answer(pageOf(request)));
  });
  return { source: open(base).source, asked };
}

const rows = (page: number): object[] =>
  Array.from({ length: 10 }, (_, index) => ({ id: page * 100 + index }));

describe('a range of pages', () => {
  test('is read in page order, proves no end, and holds what the pages hold', async () => {
    await using sandbox = await startSandbox({ size: 530 });
    const { source } = open(sandbox.url, { token: sandbox.token });
    const responses = await read(source, [2, 4]);

    expect(pages(responses)).toEqual([2, 3, 4]);
    expect(responses.map(({ end, isKnown, digest }) => [end, isKnown, digest])).toEqual(
      Array.from({ length: 3 }, () => [null, false, null]),
    );
    expect(responses.flatMap(({ read }) => read().map((record) => (record as { id: unknown }).id))).toEqual(
      sandbox.world.slice('clients', 100, 400),
    );
    expect(responses.at(-1)?.plan.lastPage).toBe(6);
    expect(source.counts.requests).toBe(3);
  });

  test('may have no end: up to the first empty page', async () => {
    const { source, asked } = await served((page) => listBody(page, 10, 45));
    const responses = await read(source, [1, Infinity]);
    expect(pages(responses)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(responses.map(({ rows }) => rows)).toEqual([10, 10, 10, 10, 5, 0]);
    expect(asked).toHaveLength(6);
  });

  test('beyond the end is one empty page', async () => {
    const { source, asked } = await served((page) => listBody(page, 10, 45));
    const responses = await read(source, [50, 60]);
    expect(responses).toMatchObject([{ page: 50, rows: 0 }]);
    expect(asked).toEqual([50]);
  });

  test('goes on one by one where no answer tells how many pages there are', async () => {
    const { source } = await served((page) => ({ data: page < 4 ? rows(page) : [] }));
    expect(pages(await read(source, [1, Infinity], byAnswerKind))).toEqual([1, 2, 3, 4]);
    expect(pages(await read(source, [2, 3], byAnswerKind))).toEqual([2, 3]);
  });

  test('goes on beyond the last page that the answer names', async () => {
    const { source } = await served((page) => ({ data: page < 4 ? rows(page) : [], meta: { last_page: 2 } }));
    expect(pages(await read(source, [1, Infinity]))).toEqual([1, 2, 3, 4]);
  });

  test('A06: ends where the whole list comes again, whatever is asked', async () => {
    const { source, asked } = await served(() => ({ data: rows(1) }));
    expect(pages(await read(source, [1, Infinity], byAnswerKind))).toEqual([1]);
    expect(asked).toEqual([1, 2]);
  });

  test('A06: ends where the first page comes again', async () => {
    const { source } = await served((page) => ({ data: rows(page < 4 ? page : 1) }));
    expect(pages(await read(source, [1, Infinity], byAnswerKind))).toEqual([1, 2, 3]);
  });

  test.each([
    ['and admits it', true],
    ['as if it were a further one', false],
  ])('A07: ends where the last page comes again, %s', async (_, isHonest) => {
    const { source } = await served((page) => {
      const shown = Math.min(page, 4);
      return { data: rows(shown), meta: { current_page: isHonest ? shown : page, last_page: 4 } };
    });
    expect(pages(await read(source, [1, Infinity]))).toEqual([1, 2, 3, 4]);
    expect(pages(await read(source, [3, 9]))).toEqual([3, 4]);
  });

  test('A06: is refused where an answer says that it shows a page in the middle', async () => {
    const { source } = await served(() => ({ data: rows(1), meta: { current_page: 1, last_page: 4 } }));
    await expect(read(source, [2, 3])).rejects.toMatchObject({ reason: 'page_ignored', state: 'invalid' });
  });

  test('A33: of a list that never ends is refused in the end', async () => {
    const { source } = await served((page) => ({ data: rows(page), meta: { last_page: page + 1 } }));
    await expect(read(source, [1, Infinity])).rejects.toMatchObject({ reason: 'endless' });
  });

  test.each([
    ['html', { html: true }],
    ['success_false', { successFalse: true }],
    ['forbidden', { refuse: true }],
  ] as const)('B02, B03, A23: ends with %s after what came before it', async (reason, deed) => {
    await using sandbox = await startSandbox({ size: 530, faults: [{ on: { page: 3 }, do: deed }] });
    const { source } = open(sandbox.url, { token: sandbox.token });
    const seen: number[] = [];
    const run = async (): Promise<void> => {
      const range = source.pages(documentedKind, { from: 1, to: 5 }, { tick: ticker() });
      for await (const { page } of range) seen.push(page);
    };
    await expect(run()).rejects.toMatchObject({ reason });
    expect(seen).toEqual([1, 2]);
  });

  test('is read side by side, each answer with its own ticks', async () => {
    const held = new Map<number, ServerResponse>();
    let most = 0;
    const base = await serve((request, response) => {
      held.set(pageOf(request), response);
      most = Math.max(most, held.size);
      if (held.has(1) || held.size === 4) {
        for (const [page, waiting] of held) send(waiting, listBody(page, 10, 325));
        held.clear();
      }
    });
    const responses = await read(open(base).source, [1, 33]);
    expect(most).toBe(4);
    expect(new Set(responses.flatMap(({ sent, answered }) => [sent, answered])).size).toBe(66);
  });

  test('is interrupted by a signal', async () => {
    const abort = new AbortController();
    const base = await serve(() => {
      abort.abort();
    });
    const { source } = open(base);
    const run = async (): Promise<void> => {
      const range = source.pages(
        documentedKind,
        { from: 1, to: 5 },
        { tick: ticker(), signal: abort.signal },
      );
      for await (const response of range) expect(response).toBeUndefined();
    };
    await expect(run()).rejects.toMatchObject({ reason: 'interrupted' });
  });
});
