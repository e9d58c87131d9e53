import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { adoptRecord } from '../../src/outbound/decisions/decide.ts';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { at, putChanges } from '../events/support.ts';
import { startReceiver, type Receiver } from '../events/webhooks/receiver.ts';
import { deliveryStageOn } from '../events/webhooks/stage.ts';
import { jsonOf, serveMirror, type Stage } from '../http/stage.ts';
import { create, opened, ZOE } from '../outbound/stage.ts';
import { MIRRORS } from '../pull/steps.ts';
import { ONE_DATABASE } from '../store/databases.ts';
import { NOON, NOON_TEXT, putRecords } from '../store/temp-mirror.ts';
import { putEntry } from '../store/outbox/entries.ts';

/** The ids and keys that a list of entries or changes shows. */
async function listed(
  { get }: Stage,
  path: string,
  name: 'entries' | 'changes',
): Promise<readonly unknown[]> {
  const rows = (await jsonOf(await get(path)))[name] as readonly Record<string, unknown>[];
  return rows.map((row) => [row['id'] ?? row['origin'], row['key']]);
}

const ended = sql`
  insert into outbox_keys (idempotency_key, outbox_id, kind, operation, record_id, state, request_hash, ended_at)
  values ('order-3', 3, 'clients', 'create', '503', 'done', '', ${NOON_TEXT})`;

describe.each(ONE_DATABASE)('the key of a caller, over a mirror in %s', (_name, open) => {
  test('finds the entry in the outbox, none where it is unknown, and what became of it where only the key is kept', async () => {
    const session = await open();
    await putEntry(session, { state: 'done', recordId: '501' }, { key: 'order 1/é' });
    await putEntry(session, {}, { key: 'order-2' });
    await session.atomically((tx) => tx.query(ended));
    const stage = await serveMirror(session);
    const key = encodeURIComponent('order 1/é');
    expect(await listed(stage, `/v1/outbox?key=${key}`, 'entries')).toEqual([[1, 'order 1/é']]);
    expect(await listed(stage, `/v1/outbox?key=${key}&state=open`, 'entries')).toEqual([]);
    expect(await listed(stage, '/v1/outbox?key=order', 'entries')).toEqual([]);
    const gone = await stage.get('/v1/outbox?key=order-3');
    expect([gone.status, await gone.json()]).toEqual([
      410,
      expect.objectContaining({
        code: 'outbox.ended',
        detail: expect.stringMatching(/^Entry 3 \(create of clients, record 503\) ended as done/) as string,
      }),
    ]);
    expect((await stage.get('/v1/outbox/3')).status).toBe(410);
  });

  test('stands beside the origin of its changes, until the record is forgotten', async () => {
    const session = await open();
    await putEntry(session, { state: 'done', recordId: '501' }, { key: 'order-1' });
    await putEntry(session, { state: 'done', recordId: '502' }, { key: 'order-2' });
    await session.atomically((tx) => tx.query(ended));
    const change = { change: 'created', observed_at: at('12:00'), after: '{}' };
    for (const id of [1, 2, 3])
      await putChanges(session, { ...change, record_id: `50${id}`, origin: `outbox:${id}` });
    await putChanges(session, { ...change, record_id: '504' });
    const stage = await serveMirror(session);
    const keys = () => listed(stage, '/v1/changes', 'changes');
    const [first, second, third, fourth] = await keys();
    expect([first, second, third, fourth]).toEqual([
      ['outbox:1', 'order-1'],
      ['outbox:2', 'order-2'],
      ['outbox:3', 'order-3'],
      ['service', null],
    ]);
    for (const id of ['502', '503'])
      await session.atomically((tx) =>
        tx.query(sql`
          insert into erasures (kind, record_id, erased_at, erased_by, suppressed)
          values ('clients', ${id}, ${NOON_TEXT}, 'ada', 0)`),
      );
    expect(await keys()).toEqual([first, ['outbox:2', null], ['outbox:3', null], fourth]);
  });
});

const dataIn = ({ taken }: Receiver): readonly unknown[] =>
  taken.map(({ body }) => {
    const { type, data } = JSON.parse(body) as { readonly type: string; readonly data: object };
    return { type, ...data };
  });

describe.each(Object.keys(MIRRORS) as (keyof typeof MIRRORS)[])(
  'what becomes of entries in %s',
  (database) => {
    test('is sent, with the key, to the endpoints that ask for it by their changes, and to no other', async () => {
      const on = await opened({ database, service: { size: 20 } });
      const hooks = deliveryStageOn(on.session, { at: new Date(on.clock.now().getTime() + 7_200_000) });
      const receivers: Receiver[] = [];
      for (const [name, changes] of [
        ['asks', ['created', 'entry.done']],
        ['only', ['entry.done']],
        ['silent', null],
      ] as const) {
        const receiver = await startReceiver();
        await hooks.add({ name, url: receiver.url, changes });
        receivers.push(receiver);
      }
      const room = await startReceiver();
      await hooks.add({ name: 'room', url: room.url, format: 'text', changes: ['entry.done'] });
      await on.store({ ...create(ZOE), key: 'order-1' });
      await on.work();
      await hooks.deliver();
      const { recordId } = await on.entry(1);
      const done = {
        type: 'entry.done',
        kind: 'clients',
        entryId: 1,
        operation: 'create',
        recordId,
        verdict: 'sent',
        key: 'order-1', // prettier-ignore
      };
      const [asks = [], only, silent = []] = receivers.map(dataIn);
      expect(asks).toHaveLength(2);
      expect(asks).toContainEqual(done);
      expect(asks).toContainEqual(
        expect.objectContaining({ type: 'clients.created', origin: 'outbox:1', key: 'order-1' }),
      );
      expect(only).toEqual([done]);
      expect(silent).toEqual([expect.not.objectContaining({ key: expect.anything() as unknown })]);
      expect(room.taken).toEqual([]);
      await hooks.deliver();
      expect(receivers.map(({ requests }) => requests.length)).toEqual([2, 1, 1]);
    });

    test('is sent, too, where a person names the record; a forgotten one has no key', async () => {
      const on = await opened({ database, pulled: [] });
      const hooks = deliveryStageOn(on.session);
      const receiver = await startReceiver();
      await hooks.add({ url: receiver.url, changes: ['entry.done'] });
      await on.session.atomically((tx) => putRecords(tx, 'clients', [{ id: '501', _raw: '{"id":501}' }]));
      const id = await putEntry(on.session, { state: 'parked', verdict: 'twins' }, { key: 'order-1' });
      await adoptRecord(on.session, { kinds: KINDS, id, recordId: '501', now: NOON });
      await on.session.atomically((tx) =>
        tx.query(sql`
        insert into erasures (kind, record_id, erased_at, erased_by, suppressed)
        values ('clients', '501', ${NOON_TEXT}, 'ada', 0)`),
      );
      await hooks.deliver();
      expect(dataIn(receiver)).toMatchObject([
        { type: 'entry.done', entryId: id, recordId: '501', key: null },
      ]);
    });
  },
);
