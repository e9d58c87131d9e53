import { describe, expect, test } from 'vitest';
import {
  highestForeignLink,
  linkedEntry,
  numberBeyond,
  saveLink,
} from '../../../src/mirror/outbox/link-store.ts';
import { insertEntry } from '../../../src/mirror/outbox/outbox-store.ts';
import type { Session } from '../../../src/mirror/session/session.ts';
import { DATABASES } from '../databases.ts';
import { NOON } from '../temp-mirror.ts';

const link = (session: Session, kind: string, recordId: string, outboxId: number): Promise<boolean> =>
  session.atomically((tx) => saveLink(tx, { kind, recordId, outboxId }, NOON));

const insert = (session: Session, key: string): Promise<number | null> =>
  session.atomically((tx) =>
    insertEntry(tx, {
      ...{ key, kind: 'clients', operation: 'create', recordId: null, payload: '{}' },
      ...{ base: null, naturalKey: null, now: NOON },
    }),
  );

describe.each(DATABASES)('links in %s', (_name, open) => {
  test('tell which entry made a record', async () => {
    const session = await open();
    expect(await link(session, 'clients', '9223372036854775807', 3)).toBe(true);
    expect(await linkedEntry(session, 'clients', '9223372036854775807')).toBe(3);
    expect(await linkedEntry(session, 'products', '9223372036854775807')).toBe(null);
    expect(await linkedEntry(session, 'clients', '5')).toBe(null);
  });

  test('give a record one maker, and an entry one record', async () => {
    const session = await open();
    await link(session, 'clients', '5', 3);
    expect(await link(session, 'clients', '5', 4)).toBe(false);
    expect(await link(session, 'clients', '6', 3)).toBe(false);
    expect(await link(session, 'clients', '5', 3)).toBe(false);
    expect(await link(session, 'products', '5', 4)).toBe(true);
    expect(await linkedEntry(session, 'clients', '5')).toBe(3);
    expect(await linkedEntry(session, 'clients', '6')).toBe(null);
  });

  test('beyond the last entry tell that the outbox is older than the mirror', async () => {
    const session = await open();
    expect(await highestForeignLink(session)).toBe(null);
    await insert(session, 'a');
    await link(session, 'clients', '5', 1);
    expect(await highestForeignLink(session)).toBe(null);
    await link(session, 'clients', '6', 7);
    expect(await highestForeignLink(session)).toBe(7);
  });

  test('of an outbox that is empty are foreign', async () => {
    const session = await open();
    await link(session, 'clients', '5', 1);
    expect(await highestForeignLink(session)).toBe(1);
  });

  test('beyond which entries are numbered are never taken by new ones', async () => {
    const session = await open();
    await session.atomically((tx) => numberBeyond(tx, session.dialect, 7));
    expect(await insert(session, 'a')).toBe(8);
    expect(await insert(session, 'b')).toBe(9);
  });
});
