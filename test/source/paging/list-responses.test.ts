import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { ListResponse } from '../../../src/source/paging/list-responses.ts';
import { byAnswerKind, documentedKind, open, sweepAll, ticker } from '../open-source.ts';
import { listBody, pageOf } from '../list-answers.ts';
import { send, serve } from '../../support/serve.ts';
import { startSandbox } from '../../../sandbox/sandbox.ts';
import type { Source } from '../../../src/source/source.ts';

const pages = (responses: readonly ListResponse[]): number[] => responses.map(({ page }) => page);
const idsOf = (responses: readonly ListResponse[]): Set<string> =>
  new Set(responses.flatMap(({ read }) => read().map((record) => JSON.stringify(record))));

describe('a sweep over HTTP', () => {
  test('asks with the documented parameters, in the order of the walk', async () => {
    const urls: string[] = [];
    const base = await serve((request, response) => {
      urls.push(request.url ?? '');
      send(response, listBody(pageOf(request), 10, 35));
    });
    const { source } = open(`${base}/prefix/`, { concurrency: 1 });

    const responses = await sweepAll(source);

    expect(pages(responses)).toEqual([1, 4, 1, 2, 3]);
    expect(idsOf(responses).size).toBe(35);
    expect(urls).toEqual([1, 4, 1, 2, 3].map((page) => `/prefix/api/clients?page=${page}&per_page=100`));
    expect(responses[1]).toMatchObject({
      end: { rows: 35 },
      meta: { currentPage: 4, lastPage: 4, perPage: 10, total: 35 },
      walk: { lastPage: 4 },
    });
    expect(source.counts).toEqual({ requests: 5, retries: 0 });
  });

  test('asks a list without documented parameters bare', async () => {
    const urls: string[] = [];
    const base = await serve((request, response) => {
      urls.push(request.url ?? '');
      send(response, { data: [{ id: 1 }, { id: 2 }, { id: 3 }] });
    });
    const responses = await sweepAll(open(base).source, byAnswerKind);
    expect(urls).toEqual([byAnswerKind.list.path, `${byAnswerKind.list.path}?page=2`]);
    expect(responses[1]).toMatchObject({ page: 1, end: { rows: 3 }, meta: null });
  });

  test('hands pages out in page order whatever order they arrive in, each with the ticks of its own answer', async () => {
    const held: { page: number; response: ServerResponse }[] = [];
    let atOnce = 0;
    const base = await serve((request, response) => {
      const page = pageOf(request);
      if (held.length === 0 && atOnce < 2) {
        atOnce++;
        send(response, listBody(page, 10, 85));
        return;
      }
      held.push({ page, response });
      if (held.length === 4) {
        for (const { page, response } of held.splice(0).reverse()) send(response, listBody(page, 10, 85));
      }
    });
    const responses = await sweepAll(open(base).source);

    expect(pages(responses)).toEqual([1, 9, 1, 2, 3, 4, 5, 6, 7, 8]);
    const ticks = responses.flatMap(({ sent, answered }) => [sent, answered]);
    expect(new Set(ticks).size).toBe(20);
    for (const { sent, answered } of responses) expect(answered).toBeGreaterThan(sent);
    const [first, last, ...body] = responses;
    expect(last?.sent).toBeGreaterThan(first?.answered ?? Infinity);
    for (const { sent } of body) expect(sent).toBeGreaterThan(last?.answered ?? Infinity);
  });

  test('keeps as many requests under way as it may, and never more', async () => {
    const held = new Map<number, ServerResponse>();
    const atOnce: number[] = [];
    const release = (page: number): void => {
      const response = held.get(page);
      held.delete(page);
      if (response) send(response, listBody(page, 10, 305));
    };
    const base = await serve((request, response) => {
      const page = pageOf(request);
      held.set(page, response);
      atOnce.push(held.size);
      if (source.counts.requests <= 2) release(page);
      else if (held.has(30) && held.size === 3) for (const each of held.keys()) release(each);
      else if (held.size === 3) release(Math.min(...held.keys()));
    });
    const { source } = open(base, { concurrency: 3 });
    expect(idsOf(await sweepAll(source)).size).toBe(305);
    expect(Math.max(...atOnce)).toBe(3);
    expect(atOnce.filter((count) => count === 3)).toHaveLength(28);
  });

  test('shares its places among sweeps', async () => {
    const { atOnce, onRequest } = countUnderWay();
    const base = await serve((request, response) => {
      onRequest(response);
      send(response, listBody(pageOf(request), 10, 305));
    });
    const { source } = open(base, { concurrency: 2 });
    const sweeps = [1, 2, 3].map(() => sweepAll(source));
    for (const responses of await Promise.all(sweeps)) expect(idsOf(responses).size).toBe(305);
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(2);
  });

  test('reads the end again, alone, and then the pages before it', async () => {
    let total = 35;
    const { atOnce, onRequest } = countUnderWay();
    const base = await serve((request, response) => {
      onRequest(response);
      send(response, listBody(pageOf(request), 10, total));
    });
    const { source } = open(base);
    const before = await sweepAll(source, documentedKind, true);
    total = 36;
    const closing: ListResponse[] = [];
    const reopen = before.at(-1)?.walk;
    for await (const response of source.sweep(documentedKind, {
      thorough: true,
      tick: ticker(),
      reopenFrom: reopen,
    }))
      closing.push(response);

    expect(pages(before)).toEqual([1, 4, 1, 2, 3, 5]);
    expect(pages(closing)).toEqual([4, 1, 2, 3]);
    expect(closing.map(({ end }) => end)).toEqual([{ rows: 36 }, null, null, null]);
    expect(atOnce[6]).toBe(1);
    expect(closing.at(-1)?.walk.step.ask).toBeNull();
  });

  test('a consumer that stops leaves nothing under way', async () => {
    let closed = 0;
    let open4 = (): void => undefined;
    const fourUnderWay = new Promise<void>((resolve) => (open4 = resolve));
    let held = 0;
    const base = await serve((request, response) => {
      const page = pageOf(request);
      if (page === 1 || page === 50) {
        send(response, listBody(page, 10, 495));
        return;
      }
      response.on('close', () => closed++);
      if (++held === 4) open4();
    });
    const { source } = open(base);
    let yielded = 0;
    for await (const response of source.sweep(documentedKind, { thorough: false, tick: ticker() })) {
      yielded++;
      if (response.page === 1 && yielded > 1) {
        await fourUnderWay;
        break;
      }
    }
    expect(yielded).toBe(3);
    await expect.poll(() => closed).toBe(4);
    expect(source.counts.requests).toBe(7);
  });

  test('a signal interrupts a sweep, and close() too', async () => {
    for (const stop of ['signal', 'close'] as const) {
      const abort = new AbortController();
      const base = await serve(() => {
        if (stop === 'signal') abort.abort();
        else void source.close();
      });
      const { source } = open(base);
      const sweep = source.sweep(documentedKind, { thorough: false, tick: ticker(), signal: abort.signal });
      const run = async (): Promise<void> => {
        for await (const response of sweep) expect(response).toBeUndefined();
      };
      await expect(run()).rejects.toMatchObject({ reason: 'interrupted', state: 'aborted' });
    }
  });

  test('A22, A23: a page that fails in the middle ends the sweep after what came before it', async () => {
    const base = await serve((request, response) => {
      if (pageOf(request) === 3) send(response, { error: 'no' }, 403);
      else send(response, listBody(pageOf(request), 10, 95));
    });
    const seen: number[] = [];
    const run = async (): Promise<void> => {
      const sweep = open(base).source.sweep(documentedKind, { thorough: false, tick: ticker() });
      for await (const { page } of sweep) seen.push(page);
    };
    await expect(run()).rejects.toMatchObject({
      reason: 'forbidden',
      message: 'GET /api/clients page 3: got status 403, with a body of 14 bytes',
    });
    expect(seen).toEqual([1, 10, 1, 2]);
  });

  test('A06: a service that ignores the page is refused', async () => {
    const base = await serve((_, response) => {
      send(response, { ...listBody(1, 10, 50), meta: { last_page: 5, per_page: 10, total: 50 } });
    });
    await expect(sweepAll(open(base).source)).rejects.toMatchObject({
      reason: 'page_ignored',
      state: 'invalid',
    });
  });
});

async function read(
  source: Source,
  [from, to]: readonly [number, number],
  kind = documentedKind,
): Promise<ListResponse[]> {
  const responses: ListResponse[] = [];
  for await (const response of source.pages(kind, { from, to }, { tick: ticker() })) responses.push(response);
  return responses;
}

/** A service whose pages `answer` returns; it notes which pages were asked for. */
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
    expect(responses.map(({ end, isUnchanged, pageHash: digest }) => [end, isUnchanged, digest])).toEqual(
      Array.from({ length: 3 }, () => [null, false, null]),
    );
    expect(responses.flatMap(({ read }) => read().map((record) => (record as { id: unknown }).id))).toEqual(
      sandbox.world.slice('clients', 100, 400),
    );
    expect(responses.at(-1)?.walk.lastPage).toBe(6);
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
    ['page_unread', { html: true }, [1, 2, 4, 5]],
    ['page_unread', { successFalse: true }, [1, 2, 4, 5]],
    ['forbidden', { refuse: true }, [1, 2]],
  ] as const)('B02, B03, A23: ends with %s after %o', async (reason, action, read) => {
    await using sandbox = await startSandbox({ size: 530, faults: [{ on: { page: 3 }, do: action }] });
    const { source } = open(sandbox.url, { token: sandbox.token });
    const seen: number[] = [];
    const run = async (): Promise<void> => {
      const range = source.pages(documentedKind, { from: 1, to: 5 }, { tick: ticker() });
      for await (const { page } of range) seen.push(page);
    };
    await expect(run()).rejects.toMatchObject({ reason });
    expect(seen).toEqual(read);
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

/** Counts, whenever a request arrives, how many of a server's requests are not answered yet. */
function countUnderWay(): {
  readonly atOnce: number[];
  readonly onRequest: (response: ServerResponse) => void;
} {
  const atOnce: number[] = [];
  let underWay = 0;
  return {
    atOnce,
    onRequest: (response) => {
      atOnce.push(++underWay);
      response.on('finish', () => underWay--);
    },
  };
}
