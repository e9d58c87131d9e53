import { describe, expect, test } from 'vitest';
import { putChanges, at } from '../events/support.ts';
import { readMeta, renewLog } from '../../src/store/kinds/meta.ts';
import { pruneChanges } from '../../src/store/records/change-store.ts';
import { ONE_DATABASE } from '../store/databases.ts';
import { kindNamed, tempMirror } from '../store/temp-mirror.ts';
import { TOKEN, jsonOf, serveMirror, type Stage } from '../http/stage.ts';

const change = (record_id: string, kind = 'clients') => ({
  kind,
  record_id,
  change: 'created',
  observed_at: at('12:00'),
  after: `{"id":${record_id},"credit":1.10}`,
});

const seqsOf = (page: Record<string, unknown>): readonly number[] =>
  (page['changes'] as { seq: number }[]).map(({ seq }) => seq);

interface Events {
  /** Reads until so many events came; returns them with their data. */
  readonly take: (count: number) => Promise<readonly (readonly [id: string, data: string])[]>;
  /** Resolves once the server has ended the stream. */
  readonly ended: () => Promise<void>;
  readonly leave: () => void;
}

async function events({ url }: Stage, query: string, lastId?: string): Promise<Events> {
  const leaving = new AbortController();
  const answer = await fetch(`${url}/v1/changes${query}`, {
    headers: {
      authorization: `Bearer ${TOKEN}`,
      accept: 'text/event-stream',
      ...(lastId !== undefined && { 'last-event-id': lastId }),
    },
    signal: leaving.signal,
  });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const known = () =>
    [...text.matchAll(/^id: (\d+)\ndata: (.*)\n\n/gm)].map(([, id = '', data = '']) => [id, data] as const);
  return {
    take: async (count) => {
      while (known().length < count) text += (await reader?.read())?.value ?? '';
      return known().splice(0, count);
    },
    ended: async () => {
      while ((await reader?.read())?.done === false);
    },
    leave: () => {
      leaving.abort();
    },
  };
}

describe.each(ONE_DATABASE)('over a mirror in %s', (_name, open) => {
  test('changes come in order, a page at a time, by kind, every digit as received', async () => {
    const session = await open();
    await putChanges(session, change('1'), change('2', 'products'), change('3'));
    const { get } = await serveMirror(session);
    const first = await (await get('/v1/changes?limit=1')).text();
    const log = await readMeta(session, 'log');
    expect(first).toBe(
      '{"changes":[{"seq":1,"kind":"clients","recordId":"1","change":"created","observedFrom":null,' +
        '"observedAt":"2026-03-01T12:00:00.000Z","before":null,"after":{"id":1,"credit":1.10},"fields":{},' +
        `"origin":"service","key":null,"runId":null}],"next":1,"log":"${log}"}`,
    );
    const clients = await jsonOf(await get('/v1/changes?kind=clients&limit=2'));
    expect([seqsOf(clients), clients['next']]).toEqual([[1, 3], 3]);
    const products = await jsonOf(await get('/v1/changes?kind=products'));
    expect([seqsOf(products), products['next']]).toEqual([[2], 3]);
    expect(await jsonOf(await get('/v1/changes?after=3'))).toEqual({ changes: [], next: 3, log });
    expect((await get('/v1/changes?kind=nothing')).status).toBe(422);
  });

  test('a stream goes on after the last event that was received, whatever its address says', async () => {
    const session = await open();
    await putChanges(session, change('1'), change('2'), change('3'));
    const stage = await serveMirror(session);
    const first = await events(stage, '?after=1');
    expect((await first.take(2)).map(([id]) => id)).toEqual(['2', '3']);
    await putChanges(session, change('4'));
    const [, , fourth] = await first.take(3);
    expect(JSON.parse(fourth?.[1] ?? '')).toMatchObject({ seq: 4, recordId: '4' });
    first.leave();
    await putChanges(session, change('5'), change('6', 'products'));
    const second = await events(stage, '?after=1', '4');
    expect((await second.take(2)).map(([id]) => id)).toEqual(['5', '6']);
    const products = await events(stage, '?kind=products', '0');
    expect((await products.take(1)).map(([id]) => id)).toEqual(['6']);
  });
});

describe.each(ONE_DATABASE)('a reader that lost its place in %s', (_name, open) => {
  /** Four events a minute apart, the first two of which were removed. */
  async function pruned() {
    const session = await open();
    for (const minute of ['12:00', '12:01', '12:02', '12:03'])
      await putChanges(session, { ...change('1'), observed_at: at(minute) });
    await session.atomically((tx) => pruneChanges(tx, new Date('2026-03-01T12:02:00Z')));
    return { session, log: await readMeta(session, 'log'), stage: await serveMirror(session) };
  }

  test('is answered 410 with the place to go on at; a new one, and one that missed nothing, is served', async () => {
    const { session, log, stage } = await pruned();
    for (const query of ['after=1', 'after=5', 'after=3&log=another', 'after=0&log=another']) {
      const answer = await stage.get(`/v1/changes?${query}`);
      expect(answer.status).toBe(410);
      expect(await jsonOf(answer)).toMatchObject({ code: 'changes.missed', next: 4, log });
    }
    for (const query of ['', 'after=0', 'after=2', `after=2&log=${log}`])
      expect(seqsOf(await jsonOf(await stage.get(`/v1/changes?${query}`)))).toEqual([3, 4]);
    await session.atomically(renewLog);
    expect((await stage.get(`/v1/changes?after=4&log=${log}`)).status).toBe(410);
  });

  test('gets one event `reset` on a stream, which then goes on', async () => {
    const { session, log, stage } = await pruned();
    const ofStream = JSON.stringify({ next: 4, log });
    for (const [query, lastId] of [['?after=1'], ['?after=3&log=another'], ['', '9']] as const) {
      const stream = await events(stage, query, lastId);
      expect(await stream.take(1)).toEqual([['4', ofStream]]);
      stream.leave();
    }
    const stream = await events(stage, '?after=9');
    await stream.take(1);
    await putChanges(session, change('5'));
    expect((await stream.take(2)).map(([id]) => id)).toEqual(['4', '5']);
    await session.atomically(renewLog);
    await putChanges(session, change('6'));
    expect((await stream.take(3)).map(([id]) => id)).toEqual(['4', '5', '6']);
    expect(JSON.parse((await stream.take(3)).at(-1)?.[1] ?? '')).toMatchObject({ next: 6 });
    stream.leave();
  });
});

const mirror = () => tempMirror([kindNamed('clients'), kindNamed('products')]);

test('no stream keeps the server from closing', async () => {
  const stage = await serveMirror(await mirror());
  const stream = await events(stage, '');
  await expect
    .poll(async () => (await (await stage.get('/metrics')).text()).includes('http_waiting 1'))
    .toBe(true);
  await stage.app.close();
  await stream.ended();
});

test('eight streams of a user may be open, the next is told to come later, and a seat is free once somebody has left', async () => {
  const stage = await serveMirror(await mirror());
  const streams: Events[] = [];
  for (let n = 0; n < 8; n++) streams.push(await events(stage, ''));
  const full = await stage.get('/v1/changes', { accept: 'text/event-stream' });
  expect([full.status, full.headers.get('retry-after')]).toEqual([503, '5']);
  expect((await stage.get('/v1/changes')).status).toBe(200);
  for (const stream of streams) stream.leave();
  await expect
    .poll(async () => (await (await stage.get('/metrics')).text()).includes('http_waiting 0'))
    .toBe(true);
  (await events(stage, '')).leave();
});
