import { expect, test } from 'vitest';
import { appendChanges } from '../../../src/store/records/change-store.ts';
import { insertEntry } from '../../store/outbox/entries.ts';
import { serveMirror } from '../../http/stage.ts';
import { NOON, kindNamed, putRecords, tempMirror } from '../../store/temp-mirror.ts';

test('a change tells who has pushed it; one of others, when the service got it', async () => {
  const session = await tempMirror([kindNamed('clients'), kindNamed('products')]);
  const entry = { kind: 'clients', operation: 'update', recordId: '17', payload: '{}', base: null } as const;
  const updated = { recordId: '17', change: 'updated', before: '{}', after: '{}' } as const;
  const event = { ...updated, fields: '{"name":["Old","New"]}', observedFrom: null };
  const log = { kind: 'clients', runId: null };
  await session.atomically(async (tx) => {
    await putRecords(tx, 'clients', [{ id: '17', _raw: '{"id":17,"name":"New"}' }]);
    await insertEntry(tx, { ...entry, key: 'a', naturalKey: null, pushedBy: 'Anna & Co', now: NOON });
    await insertEntry(tx, { ...entry, key: 'b', naturalKey: null, now: NOON });
    for (const origin of ['outbox:1', 'outbox:2', 'service'])
      await appendChanges(tx, { ...log, origin, now: NOON, events: [event] });
    const seen = { ...event, observedFrom: '2026-03-01 11:00:00.000' };
    await appendChanges(tx, { ...log, origin: 'service', now: NOON, events: [seen] });
  });
  const { get } = await serveMirror(session);
  const textOf = async (path: string, language: string): Promise<string> => {
    const page = await (await get(path, { 'accept-language': language })).text();
    return page.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');
  };
  for (const path of ['/', '/changes', '/records/clients/17']) {
    const text = await textOf(path, 'en');
    expect(text).toContain('by entry 1 of Anna &amp; Co');
    expect(text).toContain('by entry 2 ');
    expect(text.includes('In the service')).toBe(path.startsWith('/records/'));
  }
  const record = await textOf('/records/clients/17', 'en');
  expect(record).toContain('In the service, between 1 Mar 2026, 11:00 and 1 Mar 2026, 12:00');
  expect(record).toContain('In the service, before 1 Mar 2026, 12:00; start unknown');
  expect(await textOf('/records/clients/17', 'fr')).toContain('par l’envoi 1 (Anna &amp; Co)');
});
