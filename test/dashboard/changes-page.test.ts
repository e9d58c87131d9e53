import { expect, test } from 'vitest';
import { appendChanges } from '../../src/store/records/change-store.ts';
import { serveMirror } from '../http/stage.ts';
import { kindNamed, NOON, tempMirror } from '../store/temp-mirror.ts';
import { insertEntry } from '../store/outbox/entries.ts';

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
    /href="(\/v1\/export\/changes\?format=csv[^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const [, ...lines] = (await (await get(file)).text()).trimEnd().split('\r\n');
  expect(lines.map((line) => line.split(',', 4))).toEqual([
    ['2026-03-02 23:59:59', 'updated', 'client', '3'],
    ['2026-03-02 00:00:00', 'updated', 'client', '2'],
  ]);
  const events = await (await get('/v1/export/bi_changes?from=2026-03-02&to=2026-03-02')).text();
  expect(events.trimEnd().split('\r\n')).toHaveLength(3);
  expect((await get('/v1/export/bi_changes?record=3')).status).toBe(200);
  expect((await get('/v1/export/clients?kind=clients')).status).toBe(400);
});

test('the file has a line for each changed field, as the page shows it, in the language of the reader', async () => {
  const session = await tempMirror([kindNamed('clients')]);
  const entry = { kind: 'clients', operation: 'update', recordId: '7', payload: '{}', base: null } as const;
  const log = { kind: 'clients', runId: null, now: NOON };
  const after = '{"id":7,"code":"C-7","name":"Zoé","phone":"819","credit":2073.25}';
  const fields = '{"phone":["418","819"],"credit":["0.00","2073.25"]}';
  await session.atomically(async (tx) => {
    await insertEntry(tx, { ...entry, key: 'a', naturalKey: null, pushedBy: 'Ada', now: NOON });
    const created = { ...event, recordId: '8', change: 'created', before: null } as const;
    await appendChanges(tx, { ...log, origin: 'service', events: [{ ...created, after: '{"id":8}' }] });
    await appendChanges(tx, {
      ...log,
      origin: 'outbox:1',
      events: [{ ...event, recordId: '7', after, fields }],
    });
  });
  const { get } = await serveMirror(session, { timezone: 'America/Toronto' });
  const file = async (query: string, language: string) =>
    (await (await get(`/v1/export/changes?${query}`, { 'accept-language': language })).text()).trimEnd();
  const head = '2026-03-01 07:00:00,updated,client,7,C-7 · Zoé';
  expect((await file('format=csv', 'en')).split('\r\n')).toEqual([
    'when,change,kind,id,name,field,before,after,who',
    `${head},Phone,418,819,by entry 1 of Ada`,
    `${head},Credit,$0.00,"$2,073.25",by entry 1 of Ada`,
    '2026-03-01 07:00:00,created,client,8,,,,,in the service',
  ]);
  // cspell:disable -- French.
  const french = await file('format=excel&record=7', 'fr');
  expect(french).toMatch(/^quand;changement;liste;identifiant;nom;champ;avant;après;qui\r\n/);
  expect(french).toContain(';modifiée;client;7;C-7 · Zoé;Téléphone;');
  expect(french).toContain('par l’envoi 1 (Ada)');
  // cspell:enable
  expect((await get('/v1/export/changes?kind=nothing')).status).toBe(422);
  expect((await get('/v1/export/changes?format=xlsx')).headers.get('content-disposition')).toContain(
    'changes.xlsx',
  );
});
