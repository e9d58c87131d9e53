import { describe, expect, test } from 'vitest';
import { changeEntry, findEntry } from '../../src/store/outbox/outbox-store.ts';
import { appendChanges } from '../../src/store/records/change-store.ts';
import { saveAbsences } from '../../src/store/records/deletion-store.ts';
import { deleteMeta, writeMeta } from '../../src/store/kinds/meta.ts';
import { saveDrift } from '../../src/store/kinds/drift-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import { DATABASES, ONE_DATABASE } from '../store/databases.ts';
import { NOON, NOON_TEXT, putRecords } from '../store/temp-mirror.ts';
import { serveMirror, type Stage } from '../http/stage.ts';

const NASTY = `<img src=x onerror=alert(1)>"'&`;
const ESCAPED = '&lt;img src=x onerror=alert(1)&gt;';

async function pageOf({ get }: Stage, path: string, status = 200): Promise<string> {
  const answer = await get(path);
  expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
    path,
    status,
    'text/html; charset=utf-8',
  ]);
  const page = await answer.text();
  expect(page).not.toContain('<img src=x');
  return page;
}

async function addChanges(
  session: Session,
  count: number,
  { kind = 'clients', text = 'Ada' } = {},
): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => {
    const before = { name: `${text} ${index}`, code: 'C' };
    const after = { name: `${text} ${index + 1}`, code: 'C' };
    return {
      recordId: '17',
      change: 'updated' as const,
      observedFrom: NOON_TEXT,
      before: JSON.stringify(before),
      after: JSON.stringify(after),
      fields: JSON.stringify({ name: [before.name, after.name] }),
    };
  });
  await session.atomically((tx) =>
    appendChanges(tx, { kind, events, origin: 'outbox:1', runId: 1, now: NOON }),
  );
}

/** A record, its entry and its issue whose texts are all markup. */
async function addNasty(session: Session, stage: Stage): Promise<void> {
  const entry = { operation: 'create', kind: 'clients', data: { code: NASTY, name: NASTY } };
  await stage.post('/v1/outbox', entry, { 'idempotency-key': 'nasty' });
  const epoch = (await findEntry(session, 1))?.epoch ?? 0;
  const patch = { state: 'parked', verdict: 'twins', settlement: { ids: ['17'] } } as const;
  const absence = { sweep: 1, absentSince: NOON, firstGoneAt: null, isCertified: true, lastSeenAt: null };
  await session.atomically(async (tx) => {
    await putRecords(tx, 'clients', [
      { id: '17', _raw: JSON.stringify({ id: 17, name: NASTY, [NASTY]: 1 }) },
    ]);
    await changeEntry(tx, { id: 1, epoch, patch, now: NOON });
    await saveAbsences(tx, 'clients', [{ ...absence, id: '17', state: 'held' }]);
    await saveDrift(tx, [{ kind: 'clients', code: 'new_field', field: NASTY, detail: NASTY }], NOON);
    await tx.insertRows({
      table: 'issues',
      columns: ['kind', 'record_id', 'field', 'code', 'detail', 'first_seen_at'],
      rows: [['clients', '17', NASTY, 'misfit', NASTY, NOON_TEXT]],
    });
    await tx.insertRows({
      table: 'webhook_endpoints',
      columns: ['id', 'name', 'public_id', 'url', 'cursor'],
      rows: [[1, 'erp', 'p1', 'https://example.com/', 0]],
    });
    await tx.insertRows({
      table: 'webhook_deliveries',
      columns: ['endpoint_id', 'webhook_id', 'type', 'response_start'],
      rows: [[1, 'w', NASTY, NASTY]],
    });
    await tx.insertRows({
      table: 'outbox_attempts',
      columns: ['outbox_id', 'n', 'opened_at', 'request', 'response_start'],
      rows: [[1, 1, NOON_TEXT, NASTY, NASTY]],
    });
  });
  await addChanges(session, 2, { text: NASTY });
}

describe.each(DATABASES)('the pages of a mirror in %s', (_name, open) => {
  test('have an address for each page of a list, and lose and double nothing', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await addChanges(session, 70);
    await addChanges(session, 60, { kind: 'products' });
    await addChanges(session, 45);
    for (const [start, expected] of [
      ['/changes', 175],
      ['/changes?kind=clients', 115],
      ['/changes?kind=products&record=17', 60],
    ] as const) {
      const seen: string[] = [];
      for (let path: string | undefined = start; path !== undefined;) {
        const page = await pageOf(stage, path);
        seen.push(...[...page.matchAll(/id="change-(\d+)"/g)].map(([, seq = '']) => seq));
        path = /rel="next"\s+href="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
      }
      expect(seen).toHaveLength(expected);
      expect(seen.map(Number)).toEqual([...new Set(seen.map(Number))].sort((a, b) => b - a));
    }
  });
});

describe.each(ONE_DATABASE)('the pages of a mirror in %s', (_name, open) => {
  test('show text of the service as text', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await addNasty(session, stage);
    for (const path of ['/changes', '/records/clients/17', '/records/clients', '/outbox', '/outbox/1'])
      expect(await pageOf(stage, path)).toContain(ESCAPED);
    for (const path of ['/issues', '/webhooks', '/']) expect(await pageOf(stage, path)).toContain(ESCAPED);
    for (const path of ['/runs', '/deletions']) await pageOf(stage, path);
    expect(await pageOf(stage, '/outbox?state=all')).toContain(ESCAPED);
    expect(await pageOf(stage, '/outbox?state=wrong', 400)).toContain('expected one of all, open, ');
  });

  test('show beside a parked create the records that it may have made, and take another one', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await addNasty(session, stage);
    const page = await pageOf(stage, '/outbox/1');
    expect(page).toMatch(/wanted[^]*clients 17/);
    expect(page).toMatch(/action="\/outbox\/1\/adopt"[^]*value="17"[^]*name="recordId"\s+inputmode/);
  });

  test('say so where there is nothing, as a page', async () => {
    const stage = await serveMirror(await open());
    for (const path of ['/records/clients/5', '/runs/9', '/outbox/9', '/kinds/nothing', '/records/nothing/1'])
      expect(await pageOf(stage, path, 404)).toContain('Not found');
    expect(await pageOf(stage, '/changes?kind=nothing', 422)).toContain('Unknown record kind');
    expect(await pageOf(stage, '/changes?before=x', 400)).toContain('before');
  });

  test('find a record of any kind by the box in their head, and those of one kind by its page', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await session.atomically(async (tx) => {
      await putRecords(tx, 'clients', [
        { id: '17', name: 'Zoé Roy', _search: 'zoeroy', _raw: '{"id":17,"name":"Zoé Roy"}' },
        { id: '18', name: 'Luc Roy', _search: 'lucroy', _raw: '{"id":18,"name":"Luc Roy"}' },
      ]);
      await writeMeta(tx, 'filled.clients._search', '0');
    });
    for (const path of ['/find?q=ZOE', '/records/clients?q=ZOE']) {
      const page = await pageOf(stage, path);
      expect(page).toContain('The search in clients is being prepared');
      expect(page).not.toContain('No record has all');
      expect(page).not.toContain('None.');
    }
    expect(await pageOf(stage, '/find?q=17')).toContain('/records/clients/17'); // An id is found before, too.
    await session.atomically((tx) => deleteMeta(tx, 'filled.clients._search'));
    for (const path of ['/find?q=ZOE', '/records/clients?q=ZOE']) {
      const page = await pageOf(stage, path);
      expect([path, page.includes('/records/clients/17'), page.includes('/records/clients/18')]).toEqual([
        path,
        true,
        false,
      ]);
    }
    const contacts = '[{"nom":"Ana","cell":"819 777-4242"}]';
    const raw = `{"id":19,"name":"Garage Roy","contacts":${contacts}}`;
    await session.atomically((tx) =>
      putRecords(tx, 'clients', [{ id: '19', _search: 'garageroy8197774242', _raw: raw }]),
    );
    expect(await pageOf(stage, '/find?q=777-4242')).toContain('Contacts: Ana, 819 777-4242');
    expect(await pageOf(stage, '/find?q=garage')).not.toContain('Contacts: Ana');
    expect(await pageOf(stage, '/find?q=nobody')).toContain('No record has all of these words');
  });
});
