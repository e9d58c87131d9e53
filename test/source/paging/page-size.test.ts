import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SourceSettings } from '../../../src/source/http/http.ts';
import type { ListResponse } from '../../../src/source/paging/list-responses.ts';
import { byAnswerKind, documentedKind, open, sweepAll, ticker } from '../open-source.ts';
import { listBody, pageOf } from '../list-answers.ts';
import { send, serve } from '../../support/serve.ts';

type Refuse = (response: ServerResponse) => unknown;

const sizeOf = (request: IncomingMessage): number =>
  Number(new URL(request.url ?? '', 'http://x').searchParams.get('per_page') ?? '0');

/** Serves a list whose pages have the size that was asked for; what is too large is refused. */
async function served(
  isTooLarge: (size: number, page: number) => boolean,
  { refuse = with504, total = 460 }: { refuse?: Refuse; total?: number } = {},
  settings: Partial<SourceSettings> = {},
) {
  const asked: string[] = [];
  const base = await serve((request, response) => {
    const page = pageOf(request);
    const size = sizeOf(request);
    asked.push(`${page}/${size}`);
    if (isTooLarge(size, page)) refuse(response);
    else send(response, listBody(page, size, total));
  });
  return { ...open(base, { maxAttempts: 5, concurrency: 1, ...settings }), asked };
}

const with504: Refuse = (response) => response.writeHead(504).end('<h1>Gateway Timeout</h1>');
const idsOf = (responses: readonly ListResponse[]): Set<string> =>
  new Set(responses.flatMap(({ keys }) => [...keys]));

describe('a page size that is too large', () => {
  test.each<[string, Refuse]>([
    ['504', with504],
    ['524', (response) => response.writeHead(524).end()],
    ['413', (response) => response.writeHead(413).end('<p>')],
    [
      '422',
      (response) => {
        send(response, { message: 'per_page may not be greater than 50.' }, 422);
      },
    ],
    ['400', (response) => response.writeHead(400).end()],
    ['no answer in time', () => vi.advanceTimersByTime(60_000)],
  ])('by %s is halved until the service takes it, and stays so', async (_, refuse) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { source, asked } = await served((size) => size > 30, { refuse });
    const first = await sweepAll(source);
    expect(idsOf(first).size).toBe(460);
    expect(first.at(-1)?.walk).toMatchObject({ rowsPerPage: 25, step: { phase: 'done' } });
    expect(new Set(asked.filter((one) => one.startsWith('1/')))).toEqual(new Set(['1/100', '1/50', '1/25']));
    const before = asked.length;
    await sweepAll(source);
    expect(asked.slice(before).every((one) => one.endsWith('/25'))).toBe(true);
    expect(source.pageSizes.answered.get(documentedKind.name)).toBe(25);
  });

  test('is asked for as often as any page, and each smaller one once', async () => {
    const slow = await served((size) => size > 30, {}, { maxAttempts: 3 });
    await sweepAll(slow.source);
    expect(slow.asked.slice(0, 6)).toEqual(['1/100', '1/100', '1/100', '1/50', '1/25', '19/25']);
    const refusing = await served((size) => size > 50, {
      refuse: (response) => response.writeHead(422).end(),
    });
    await sweepAll(refusing.source);
    expect(refusing.asked.slice(0, 3)).toEqual(['1/100', '1/50', '10/50']);
  });

  test('is that of the settings at first', async () => {
    const { source, asked } = await served(() => false, {}, { pageSize: 40 });
    expect(idsOf(await sweepAll(source)).size).toBe(460);
    expect(asked.every((one) => one.endsWith('/40'))).toBe(true);
  });

  test('for a later page does not change the size within a reading', async () => {
    const { source, asked } = await served((size, page) => size > 25 && page === 3);
    await expect(sweepAll(source)).rejects.toMatchObject({ reason: 'page_unread' });
    const range = source.pages(documentedKind, { from: 3, to: 3 }, { tick: ticker() });
    await expect(range[Symbol.asyncIterator]().next()).rejects.toMatchObject({ reason: 'unavailable' });
    expect(asked.every((one) => one.endsWith('/100'))).toBe(true);
  });

  test('is no matter of a list without documented parameters, nor of a single reading', async () => {
    const { source, asked } = await served(() => true);
    await expect(sweepAll(source, byAnswerKind)).rejects.toMatchObject({ reason: 'unavailable' });
    expect(asked).toHaveLength(6); // The last one for page 2.
    const once = source.pages(documentedKind, { from: 1, to: 1 }, { tick: ticker(), once: true });
    await expect(once[Symbol.asyncIterator]().next()).rejects.toMatchObject({ reason: 'unavailable' });
    expect(asked).toHaveLength(7);
  });

  test('is not remembered where no size was answered', async () => {
    const { source, asked } = await served(() => true);
    await expect(sweepAll(source)).rejects.toMatchObject({ reason: 'unavailable', state: 'aborted' });
    const sizes = [100, 100, 100, 100, 100, 50, 25, 12, 6, 3, 1];
    expect(asked).toEqual([...sizes.map((size) => `1/${size}`), '2/100']);
    expect(source.pageSizes.answered.size).toBe(0);
  });
});
