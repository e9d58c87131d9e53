import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { ListedKind } from '../../../src/catalog/kind.ts';
import type { ListResponse } from '../../../src/source/paging/list-responses.ts';
import type { SourceSettings } from '../../../src/source/http/http.ts';
import { byAnswerKind, documentedKind, open, ticker } from '../open-source.ts';
import { listBody, pageOf } from '../list-answers.ts';
import { send, serve } from '../../support/serve.ts';

type Fail = (response: ServerResponse, request: IncomingMessage) => unknown;

const oops: Fail = (response) => response.writeHead(500).end('{"message":"Server Error"}');

/** Ways in which a page fails for ever. */
const FAILURES: readonly (readonly [string, Fail])[] = [
  ['status 500', oops],
  ['a web page', (response) => response.end('<p>Oops')],
  [
    'a cut body',
    (response) =>
      response.writeHead(200, { 'content-length': 500 }).write('{"data"', () => response.destroy()),
  ],
  ['JSON that is cut', (response) => response.end('{"data":[{"id":')],
  [
    'success: false',
    (response) => {
      send(response, { success: false });
    },
  ],
  [
    'a 404 of its own',
    (response) => {
      send(response, { message: 'Not Found' }, 404);
    },
  ],
  ['a firewall’s page', (response) => response.writeHead(403).end('<h1>Access denied')],
];

/** Serves 75 records on pages of 10; the ones that fail are named. */
const served = async (
  failing: readonly number[],
  { fail = oops, total = 75, isBare = false }: { fail?: Fail; total?: number; isBare?: boolean } = {},
  settings: Partial<SourceSettings> = {},
) => {
  const base = await serve((request, response) => {
    const page = pageOf(request);
    if (failing.includes(page)) fail(response, request);
    else
      send(
        response,
        isBare ? { data: (listBody(page, 10, total) as { data: unknown }).data } : listBody(page, 10, total),
      );
  });
  return open(base, { maxAttempts: 2, ...settings }).source;
};

/** Reads on to the error; returns it with the ids that were shown before. */
async function readAll(responses: AsyncIterable<ListResponse>) {
  const ids = new Set<unknown>();
  const ends: unknown[] = [];
  let error: unknown = null;
  try {
    for await (const response of responses) {
      for (const record of response.read()) ids.add((record as { id: unknown }).id);
      ends.push(response.end);
    }
  } catch (fault) {
    error = fault;
  }
  return { ids: [...ids].map(Number).sort((a, b) => a - b), ends, error };
}

const sweep = async (
  source: Awaited<ReturnType<typeof served>>,
  kind: ListedKind = documentedKind,
  thorough = false,
) => readAll(source.sweep(kind, { thorough, tick: ticker() }));

const idsBut = (pages: readonly number[], total = 75): number[] =>
  Array.from({ length: total }, (_, index) => index + 1).filter((id) => !pages.includes(Math.ceil(id / 10)));

const unread = (spans: string) => ({
  reason: 'page_unread',
  state: 'invalid',
  message: expect.stringContaining(`${spans} could not be read`) as string,
});

describe('a page that always fails', () => {
  test.each(FAILURES)('by %s does not hide the pages behind it', async (_, fail) => {
    const { ids, error } = await sweep(await served([3], { fail }));
    expect(ids).toEqual(idsBut([3]));
    expect(error).toMatchObject({
      ...unread('page 3'),
      hint: expect.stringContaining('bms-sync backfill clients --pages 3') as string,
    });
  });

  test.each([
    ['the first', [1], 'page 1'],
    ['the last', [8], 'page 8'],
    ['first and last', [1, 8], 'pages 1, 8'],
    ['three in a row', [3, 4, 5], 'pages 3-5'],
    ['four in a row, and another', [2, 3, 4, 5, 7], 'pages 2-5, 7'],
  ])('may be %s', async (_, failing, spans) => {
    for (const thorough of [false, true]) {
      const { ids, error } = await sweep(await served(failing), documentedKind, thorough);
      expect(ids).toEqual(idsBut(failing));
      expect(error).toMatchObject(unread(spans));
    }
  });

  test('is passed over in a list that tells no length, up to two more that fail', async () => {
    const one = await sweep(await served([3], { isBare: true }), byAnswerKind);
    expect(one.ids).toEqual(idsBut([3]));
    expect(one.error).toMatchObject(unread('page 3'));
    const many = await sweep(await served([3, 4, 5], { isBare: true }), byAnswerKind);
    expect(many.ids).toEqual(idsBut([3, 4, 5, 6, 7, 8]));
    expect(many.error).toMatchObject(unread('pages 3-5'));
  });

  test('leaves no proof of the list’s end behind it', async () => {
    const { ends } = await sweep(await served([3]));
    expect(ends.slice(4)).toEqual([null, null, null, null, null, null]); // Pages 4 to 8, and the empty one.
  });

  test('is passed over in a range, and fails alone as ever', async () => {
    const source = await served([3]);
    const range = await readAll(source.pages(documentedKind, { from: 2, to: 4 }, { tick: ticker() }));
    expect(range.ids).toEqual(
      [...Array(10).keys(), ...Array(10).keys()].map((at, index) => (index < 10 ? 11 : 31) + at),
    );
    expect(range.error).toMatchObject(unread('page 3'));
    const alone = await readAll(source.pages(documentedKind, { from: 3, to: 3 }, { tick: ticker() }));
    expect(alone).toMatchObject({ ids: [], error: { reason: 'unavailable', state: 'aborted' } });
  });

  test('is one of at most twenty', async () => {
    const failing = Array.from({ length: 40 }, (_, index) => 2 * index + 2);
    const { error } = await sweep(await served(failing, { total: 1000 }, { maxAttempts: 1 }));
    expect(error).toMatchObject({ message: expect.stringContaining('were not asked for') as string });
  });
});

describe('a service that goes away during a sweep', () => {
  test.each([
    ['status 500', oops, 'unavailable'],
    ['no answer', (response) => response.destroy(), 'unreachable'],
  ])('by %s is away, whatever page that was', async (_, fail, reason) => {
    for (const last of [1, 2, 5, 9]) {
      let count = 0;
      const base = await serve((request, response) => {
        if (++count > last) fail(response, request);
        else send(response, listBody(pageOf(request), 10, 75));
      });
      const { error } = await sweep(open(base, { maxAttempts: 2, concurrency: 1 }).source);
      if (last < 9) expect(error).toMatchObject({ reason, state: 'aborted' });
      else expect(error).toBeNull();
    }
  });

  test('that asks to wait is not asked for other pages', async () => {
    const pages: number[] = [];
    const base = await serve((request, response) => {
      pages.push(pageOf(request));
      if (pages.length < 5) send(response, listBody(pageOf(request), 10, 75));
      else response.writeHead(503, { 'retry-after': '9' }).end();
    });
    const { error } = await sweep(open(base, { maxAttempts: 2, concurrency: 1 }).source);
    expect(error).toMatchObject({ reason: 'unavailable', state: 'aborted' });
  });
});
