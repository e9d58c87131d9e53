import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import {
  changeEntry,
  countEntries,
  findByKeys,
  findEntry,
  listEntries,
  type EntryPatch,
  type EntryState,
  type NewEntry,
} from '../../../src/store/outbox/outbox-store.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { DATABASES } from '../databases.ts';
import { NOON, NOON_TEXT, later } from '../temp-mirror.ts';
import { insertEntry } from './entries.ts';

const CREATE: NewEntry = {
  key: 'ada',
  kind: 'clients',
  operation: 'create',
  recordId: null,
  payload: '{"credit":1.50}',
  base: null,
  naturalKey: 'C-1',
  now: NOON,
};

const insert = (session: Session, entry: Partial<NewEntry> = {}): Promise<number | null> =>
  session.atomically((tx) => insertEntry(tx, { ...CREATE, ...entry }));

const change = (session: Session, patch: EntryPatch, more: { epoch?: number; raises?: true } = {}) =>
  session.atomically((tx) => changeEntry(tx, { id: 1, epoch: 0, patch, now: later(1000), ...more }));

describe.each(DATABASES)('an entry in %s', (_name, open) => {
  test('is read as it was stored, by its number and by its key', async () => {
    const session = await open();
    expect(await insert(session)).toBe(1);
    const stored = {
      id: 1,
      key: 'ada',
      kind: 'clients',
      operation: 'create',
      recordId: null,
      payload: '{"credit":1.50}',
      base: null,
      baseAt: null,
      state: 'ready',
      epoch: 0,
      owner: null,
      attempts: 0,
      nextAttemptAt: null,
      naturalKey: 'C-1',
      preimage: null,
      verdict: null,
      result: null,
      settlement: {},
      allowsUnknown: false,
      allowsDouble: false,
      elapsedMs: 0,
      elapsedAt: null,
      pushedBy: null,
      createdAt: NOON_TEXT,
      updatedAt: NOON_TEXT,
    };
    expect(await findEntry(session, 1)).toEqual(stored);
    expect(await findByKeys(session, ['ada'])).toEqual([stored]);
    expect(await findEntry(session, 2)).toBe(null);
    expect(await findByKeys(session, ['Ada'])).toEqual([]);
  });

  test('of a record with the largest id keeps it', async () => {
    const session = await open();
    const recordId = '9223372036854775807';
    await insert(session, { operation: 'update', recordId, base: '{"id":9223372036854775807}' });
    expect(await findEntry(session, 1)).toMatchObject({ recordId, base: '{"id":9223372036854775807}' });
  });

  test('whose key is taken is not stored, and the transaction goes on', async () => {
    const session = await open();
    await insert(session);
    const ids = await session.atomically(async (tx) => [
      await insertEntry(tx, { ...CREATE, payload: '{}' }),
      await insertEntry(tx, { ...CREATE, key: 'bea' }),
    ]);
    expect(ids).toEqual([null, expect.any(Number)]);
    expect((await findByKeys(session, ['ada']))[0]?.payload).toBe('{"credit":1.50}');
  });

  test('that an application inserts is ready, with the time of its insertion', async () => {
    const session = await open();
    await session.atomically((tx) =>
      tx.query(sql`
        insert into outbox (idempotency_key, kind, operation, payload) values ('k', 'clients', 'create', '{}')`),
    );
    const entry = await findEntry(session, 1);
    expect(entry).toMatchObject({ state: 'ready', epoch: 0, attempts: 0, owner: null, naturalKey: null });
    expect(entry?.createdAt).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/);
    expect(entry?.updatedAt).toBe(entry?.createdAt);
  });

  test('is changed by who holds its epoch; what is not named stays', async () => {
    const session = await open();
    await insert(session);
    const patch: EntryPatch = {
      state: 'parked',
      recordId: '5',
      attempts: 2,
      nextAttemptAt: NOON_TEXT,
      naturalKey: null,
      payload: '{}',
      preimage: '{"tick":1}',
      verdict: 'twins',
      result: '{"ids":[]}',
      settlement: { ids: ['7'], unproven: [] },
      owner: 'me',
    };
    expect(await change(session, patch)).toBe(true);
    expect(await findEntry(session, 1)).toEqual({
      id: 1,
      key: 'ada',
      kind: 'clients',
      operation: 'create',
      base: null,
      baseAt: null,
      epoch: 0,
      allowsUnknown: false,
      allowsDouble: false,
      elapsedMs: 0,
      elapsedAt: null,
      pushedBy: null,
      createdAt: NOON_TEXT,
      updatedAt: '2026-03-01 12:00:01.000',
      ...patch,
    });
    expect(await change(session, { verdict: null, owner: null })).toBe(true);
    expect(await findEntry(session, 1)).toMatchObject({ state: 'parked', verdict: null, owner: null });
  });

  test('is left alone by who holds an older epoch', async () => {
    const session = await open();
    await insert(session);
    expect(await change(session, { state: 'abandoned' }, { raises: true })).toBe(true);
    expect(await change(session, { state: 'done' })).toBe(false);
    expect(await change(session, { state: 'done' }, { epoch: 2 })).toBe(false);
    expect(await findEntry(session, 1)).toMatchObject({ state: 'abandoned', epoch: 1 });
    expect(await change(session, {}, { epoch: 1 })).toBe(true);
  });
});

describe.each(DATABASES)('entries in %s', (_name, open) => {
  async function withStates(...states: readonly EntryState[]): Promise<Session> {
    const session = await open();
    for (const [index, state] of states.entries()) {
      await insert(session, { key: String(index) });
      const id = index + 1;
      await session.atomically((tx) => changeEntry(tx, { id, epoch: 0, patch: { state }, now: NOON }));
    }
    return session;
  }

  test('are listed by their states, the newest first, as many as asked for', async () => {
    const session = await withStates('ready', 'done', 'parked', 'ready', 'rejected');
    const ids = async (states: readonly EntryState[], limit: number) =>
      (await listEntries(session, states, limit)).map(({ id }) => id);
    expect(await ids(['ready', 'parked'], 9)).toEqual([4, 3, 1]);
    expect(await ids(['ready', 'parked'], 2)).toEqual([4, 3]);
    expect(await ids(['abandoned'], 9)).toEqual([]);
  });

  test('are counted by their states', async () => {
    const session = await withStates('ready', 'done', 'parked', 'ready');
    expect(await countEntries(session)).toEqual({ ready: 2, done: 1, parked: 1 });
    expect(await countEntries(await open())).toEqual({});
  });
});
