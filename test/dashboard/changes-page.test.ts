import { expect, test } from 'vitest';
import { appendChanges } from '../../src/store/records/change-store.ts';
import { serveMirror } from '../http/stage.ts';
import { kindNamed, tempMirror } from '../store/temp-mirror.ts';

const event = {
  change: 'updated',
  before: '{}',
  after: '{}',
  fields: '{}',
  observedFrom: null,
} as const;

test('shows changes by day, and those of some days alone, on the page and as a file', async () => {
  const session = await tempMirror([kindNamed('clients')]);
  for (const [recordId, at] of [
    ['1', '2026-03-01T23:59:59.999Z'],
    ['2', '2026-03-02T00:00:00Z'],
    ['3', '2026-03-02T23:59:59.999Z'],
    ['4', '2026-03-03T00:00:00Z'],
  ] as const)
    await session.atomically((tx) =>
      appendChanges(tx, {
        kind: 'clients',
        runId: null,
        origin: 'service',
        now: new Date(at),
        events: [{ ...event, recordId }],
      }),
    );
  const { get } = await serveMirror(session);
  const seen = async (query: string) => {
    const page = await (await get(`/changes${query}`)).text();
    return [...page.matchAll(/<h2 class="day">([^<]+)<|id="change-(\d)"/g)].map(([, day, seq]) => day ?? seq);
  };
  const [first, second, third] = ['Sunday, March 1, 2026', 'Monday, March 2, 2026', 'Tuesday, March 3, 2026'];
  expect(await seen('')).toEqual([third, '4', second, '3', '2', first, '1']);
  expect(await seen('?from=2026-03-02&to=2026-03-02')).toEqual([second, '3', '2']);
  expect(await seen('?from=2026-03-02&kind=clients')).toEqual([third, '4', second, '3', '2']);
  expect(await seen('?to=2026-03-02&before=3&record=2&kind=clients')).toEqual([second, '2']);
  expect(await seen('?record=2')).toEqual([second, '2']);
  expect(await seen('?from=2026-03-04&to=')).toEqual([]);
  expect(await seen('?record=3')).toEqual([second, '3']);
  expect((await get('/changes?from=yesterday')).status).toBe(400);
  const page = await (await get('/changes?from=2026-03-02&to=2026-03-02&kind=clients')).text();
  expect(page).toContain('privacy.exclude has removed what changed');
  const range =
    / class="button" href="(?:\/changes\?kind=clients&amp;from=\d{4}-\d\d-\d\d&amp;to=\d{4}-\d\d-\d\d)">([^<]+)</g;
  expect([...page.matchAll(range)].map(([, words]) => words)).toEqual(['Today', 'Yesterday', '7 days']);
  const file =
    /href="(\/v1\/export\/bi_changes\?format=csv[^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const [, ...lines] = (await (await get(file)).text()).trimEnd().split('\r\n');
  expect(lines.map((line) => line.split(',', 3))).toEqual([
    ['2', 'clients', '2'],
    ['3', 'clients', '3'],
  ]);
  expect((await get('/v1/export/bi_changes?record=3')).status).toBe(200);
  expect((await get('/v1/export/clients?kind=clients')).status).toBe(400);
});
