import { describe, expect, test } from 'vitest';
import {
  closeAttempt,
  findHighestUnknownLink,
  findCreator,
  skipEntryIds,
  oldestUnsettledSend,
  openAttempt,
  readAttempts,
  saveLink,
  type ClosedAttempt,
} from '../../../src/store/outbox/attempts-and-links.ts';
import { changeEntry, type EntryState } from '../../../src/store/outbox/outbox-store.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { DATABASES } from '../databases.ts';
import { insertEntry, newEntry } from './entries.ts';
import { NOON, NOON_TEXT, later, thrownBy } from '../temp-mirror.ts';

const REQUEST = 'POST /api/clients\n{"name":"Zoé"}';

const open_ = (session: Session, outboxId: number, n: number): Promise<void> =>
  session.atomically((tx) => openAttempt(tx, { outboxId, n, request: REQUEST, now: NOON }));

const close = (session: Session, more: Partial<ClosedAttempt> = {}): Promise<void> =>
  session.atomically((tx) =>
    closeAttempt(tx, {
      outboxId: 1,
      n: 1,
      grade: 'rejected',
      status: 422,
      responseStart: '{"message":"non"}',
      now: later(1000),
      ...more,
    }),
  );

const insert = (session: Session, key: string): Promise<number | null> =>
  session.atomically((tx) => insertEntry(tx, newEntry({ key })));

describe.each(DATABASES)('attempts in %s', (_name, open) => {
  test('are open until their answer is stored', async () => {
    const session = await open();
    await open_(session, 1, 1);
    const opened = { n: 1, openedAt: NOON_TEXT, request: REQUEST };
    const unanswered = { closedAt: null, grade: null, status: null, responseStart: null };
    expect(await readAttempts(session, 1)).toEqual([{ ...opened, ...unanswered }]);
    await close(session);
    expect(await readAttempts(session, 1)).toEqual([
      {
        ...opened,
        closedAt: '2026-03-01 12:00:01.000',
        grade: 'rejected',
        status: 422,
        responseStart: '{"message":"non"}',
      },
    ]);
  });

  test('that are closed stay as they are', async () => {
    const session = await open();
    await open_(session, 1, 1);
    await close(session, { grade: 'ambiguous', status: null, responseStart: null });
    const closed = await readAttempts(session, 1);
    await close(session, { now: later(9000) });
    expect(await readAttempts(session, 1)).toEqual(closed);
  });

  test('are told of one entry, the first one first', async () => {
    const session = await open();
    for (const n of [2, 10, 1]) await open_(session, 1, n);
    await open_(session, 2, 1);
    await close(session);
    expect((await readAttempts(session, 1)).map(({ n, grade }) => [n, grade])).toEqual([
      [1, 'rejected'],
      [2, null],
      [10, null],
    ]);
    expect(await readAttempts(session, 2)).toMatchObject([{ n: 1, grade: null }]);
    expect(await readAttempts(session, 3)).toEqual([]);
  });

  test('cannot be made twice: whoever would send a second time is stopped', async () => {
    const session = await open();
    await open_(session, 1, 1);
    expect(await thrownBy(() => open_(session, 1, 1))).toBeInstanceOf(Error);
    expect(await readAttempts(session, 1)).toHaveLength(1);
  });
});

describe.each(DATABASES)('the oldest unsettled send in %s', (_name, open) => {
  async function sent(session: Session, state: EntryState, ...minutes: readonly number[]): Promise<void> {
    const id = await insert(session, `${state} ${minutes.join()}`);
    if (id === null) throw new Error('The key is taken.');
    await session.atomically(async (tx) => {
      await changeEntry(tx, { id, epoch: 0, patch: { state }, now: later(9e6) });
      for (const [n, minute] of minutes.entries())
        await openAttempt(tx, { outboxId: id, n: n + 1, request: REQUEST, now: later(minute * 60_000) });
    });
  }

  test('is the latest one of the entry that has waited longest', async () => {
    const session = await open();
    expect(await oldestUnsettledSend(session)).toBeNull();
    await sent(session, 'parked', 1);
    await sent(session, 'done', 2);
    expect(await oldestUnsettledSend(session)).toBeNull();
    await sent(session, 'unsettled', 20);
    await sent(session, 'unsettled', 3, 15);
    expect(await oldestUnsettledSend(session)).toBe('2026-03-01 12:15:00.000');
  });

  test('is as old as its entry where the journal does not have it', async () => {
    const session = await open();
    await sent(session, 'unsettled');
    expect(await oldestUnsettledSend(session)).toBe(NOON_TEXT);
  });
});

const link = (session: Session, kind: string, recordId: string, outboxId: number): Promise<boolean> =>
  session.atomically((tx) => saveLink(tx, { kind, recordId, outboxId }, NOON));

describe.each(DATABASES)('links in %s', (_name, open) => {
  test('tell which entry made a record', async () => {
    const session = await open();
    expect(await link(session, 'clients', '9223372036854775807', 3)).toBe(true);
    expect(await findCreator(session, 'clients', '9223372036854775807')).toBe(3);
    expect(await findCreator(session, 'products', '9223372036854775807')).toBe(null);
    expect(await findCreator(session, 'clients', '5')).toBe(null);
  });

  test('give a record one maker, and an entry one record', async () => {
    const session = await open();
    await link(session, 'clients', '5', 3);
    expect(await link(session, 'clients', '5', 4)).toBe(false);
    expect(await link(session, 'clients', '6', 3)).toBe(false);
    expect(await link(session, 'clients', '5', 3)).toBe(false);
    expect(await link(session, 'products', '5', 4)).toBe(true);
    expect(await findCreator(session, 'clients', '5')).toBe(3);
    expect(await findCreator(session, 'clients', '6')).toBe(null);
  });

  test('beyond the last entry tell that the outbox is older than the mirror', async () => {
    const session = await open();
    expect(await findHighestUnknownLink(session)).toBe(null);
    await insert(session, 'a');
    await link(session, 'clients', '5', 1);
    expect(await findHighestUnknownLink(session)).toBe(null);
    await link(session, 'clients', '6', 7);
    expect(await findHighestUnknownLink(session)).toBe(7);
  });

  test('of an outbox that is empty are foreign', async () => {
    const session = await open();
    await link(session, 'clients', '5', 1);
    expect(await findHighestUnknownLink(session)).toBe(1);
  });

  test('beyond which entries are numbered are never taken by new ones', async () => {
    const session = await open();
    await session.atomically((tx) => skipEntryIds(tx, 7));
    expect(await insert(session, 'a')).toBe(8);
    expect(await insert(session, 'b')).toBe(9);
  });
});
