import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clients } from '../../src/catalog/kinds/clients.ts';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import type { Source } from '../../src/source/source.ts';
import type { ListResponse, SweepOptions } from '../../src/source/paging/list-responses.ts';
import type { KnownPage } from '../../src/source/paging/list-page.ts';
import { documentedKind, open, ticker, TOKEN } from './open-source.ts';
import { listBody, pageOf } from './list-answers.ts';
import { send, serve } from '../support/serve.ts';

type Options = Partial<SweepOptions>;

async function sweep(source: Source, options: Options = {}): Promise<ListResponse[]> {
  const responses: ListResponse[] = [];
  const sweep = source.sweep(documentedKind, {
    thorough: false,
    tick: ticker(),
    rulesDigest: 'digestScope',
    ...options,
  });
  for await (const response of sweep) responses.push(response);
  return responses;
}

/** What a sweep leaves behind: its pages by number. */
function knownFrom(responses: readonly ListResponse[]): Map<number, KnownPage> {
  return new Map(
    responses.flatMap(({ page, pageHash: digest, read }) => {
      const keys = read().map((record) => String((record as { id: unknown }).id));
      return digest ? [[page, { ...digest, keys }] as const] : [];
    }),
  );
}

async function company(size: number): Promise<{ sandbox: Sandbox; source: Source }> {
  const sandbox = await startSandbox({ size });
  onTestFinished(() => sandbox.close());
  return { sandbox, source: open(sandbox.url, { token: sandbox.token }).source };
}

const parsed = (responses: readonly ListResponse[]): number[] =>
  responses.filter(({ isUnchanged }) => !isUnchanged).map(({ page }) => page);
const comparable = ({ page, rows, meta, envelope, pageHash: digest, end, read }: ListResponse) => ({
  page,
  rows,
  meta,
  envelope,
  end,
  records: read(),
  digest: digest && { digest: digest.digest, bytes: digest.bytes },
});

describe('a list that is swept again', () => {
  test('is not parsed where nothing has changed, and says the same', async () => {
    const { source } = await company(250);
    const before = await sweep(source);
    const after = await sweep(source, { knownPages: knownFrom(before) });

    expect(parsed(before)).toEqual([1, 3, 1, 2]);
    expect(parsed(after)).toEqual([]);
    expect(after.map(comparable)).toEqual(before.map(comparable));
  });

  test('is parsed where a record has changed, and only there', async () => {
    const { sandbox, source } = await company(250);
    const knownPages = knownFrom(await sweep(source));
    const [id = 0] = sandbox.world.slice('clients', 150, 151);
    sandbox.world.update('clients', id, { name: 'Another' });

    const after = await sweep(source, { knownPages });
    expect(parsed(after)).toEqual([2]);
    expect(after.at(-1)?.read()[50]).toMatchObject({ id, name: 'Another' });
    expect(after.at(-1)?.pageHash).not.toEqual(knownPages.get(2));
  });

  test('is not parsed where its answers are packed now, and were not before', async () => {
    const pages = (pack: (body: string) => Buffer, headers: Record<string, string>) =>
      serve((request, response) => {
        response.writeHead(200, headers).end(pack(JSON.stringify(listBody(pageOf(request), 100, 250))));
      });
    const plain = await sweep(open(await pages((body) => Buffer.from(body), {})).source);
    const packed = open(await pages(gzipSync, { 'content-encoding': 'gzip' })).source;
    const after = await sweep(packed, { knownPages: knownFrom(plain) });
    expect(parsed(after)).toEqual([]);
    expect(after.map(comparable)).toEqual(plain.map(comparable));
  });

  test('tells its new total on pages that are known', async () => {
    const { sandbox, source } = await company(250);
    const knownPages = knownFrom(await sweep(source));
    sandbox.world.insert('clients', { code: '~last' });

    const after = await sweep(source, { knownPages });
    expect(parsed(after)).toEqual([3]);
    expect(after.map(({ meta }) => meta?.total)).toEqual([251, 251, 251, 251]);
    expect(after[1]?.end).toEqual({ rows: 251 });
  });

  test('is parsed whole under another digestScope, and has no digest without one', async () => {
    const { source } = await company(250);
    const knownPages = knownFrom(await sweep(source));
    expect(parsed(await sweep(source, { knownPages, rulesDigest: 'other' }))).toEqual([1, 3, 1, 2]);
    const plain = await sweep(source, { knownPages, rulesDigest: undefined });
    expect(parsed(plain)).toEqual([1, 3, 1, 2]);
    expect(plain.map(({ pageHash: digest }) => digest)).toEqual([null, null, null, null]);
  });

  test.each([
    ['cut and sent as if it were whole', { cut: 300 }, 'not_json'],
    ['cut by a connection that breaks', { truncate: 300 }, 'unreachable'],
    ['a web page', { html: true }, 'html'],
    ['refused with status 200', { successFalse: true }, 'success_false'],
  ] as const)('is refused as ever where a known page is %s', async (_, action, reason) => {
    const { sandbox, source } = await company(250);
    const knownPages = knownFrom(await sweep(source));
    sandbox.setFaults([{ on: { kind: 'clients', page: 2 }, do: action }]);
    await expect(sweep(source, { knownPages })).rejects.toMatchObject({
      reason: 'page_unread',
      cause: { reason },
    });
  });

  test('A06: a known page that comes under another number as well is not another page', async () => {
    const { sandbox, source } = await company(250);
    const knownPages = knownFrom(await sweep(source));
    const [first] = knownPages.values();
    sandbox.setFaults([{ on: { kind: 'clients', page: 3 }, do: { ignorePage: true } }]);
    if (first) knownPages.set(3, first); // As if that page had shown them before.
    await expect(sweep(source, { knownPages })).rejects.toMatchObject({ reason: 'page_ignored' });
  });

  test('A06: ids are compared whether a page was parsed or known, and however ids are sent', async () => {
    const data = Array.from({ length: 10 }, (_, index) => ({ id: index + 1 }));
    const asText = data.map(({ id }) => ({ id: String(id) }));
    const base = await serve((request, response) => {
      const isFirst = request.url?.includes('page=1&') ?? false;
      send(response, { data: isFirst ? data : asText, meta: { last_page: 4, total: 40 } });
    });
    await expect(sweep(open(base).source)).rejects.toMatchObject({ reason: 'page_ignored' });
  });
});

test('a list that has moved by a page is still read to the row', async () => {
  const { sandbox, source } = await company(230);
  const knownPages = knownFrom(await sweep(source));
  for (let count = 0; count < 100; count++) sandbox.world.insert('clients', { code: '!first' });
  const after = await sweep(source, { knownPages });
  const seen = new Set(after.flatMap(({ read }) => read()).map((record) => (record as { id: unknown }).id));
  expect(seen.size).toBe(sandbox.world.count(clients.name));
});

test('a known page that can no longer be parsed does not show the token', async () => {
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
  let meta = '{"current_page":1,"last_page":1,"per_page":25,"total":1}';
  const base = await serve((_, response) => {
    send(response, `{"data":[${deep}],"meta":${meta}}`);
  });
  const { source } = open(base);
  const knownPages = new Map(
    (await sweep(source)).flatMap(({ page, pageHash: digest }) =>
      digest ? [[page, { ...digest, keys: ['?'] }]] : [],
    ),
  );
  meta = `{"current_page":1,"last_page":1,"per_page":25.0,"total":1,"echo":"${TOKEN}"}`; // Numbers with a point are read by another, slower parser.
  const [response] = await sweep(source, { knownPages });
  expect(response).toMatchObject({ isUnchanged: true, rows: 1, meta: { perPage: 25, total: 1 } });
  expect(() => response?.read()).toThrow(
    expect.objectContaining({
      reason: 'too_deep',
      message: 'GET /api/clients page 1: got JSON nested too deep to be parsed',
    }) as Error,
  );
});
