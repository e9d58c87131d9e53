import { describe, expect, test } from 'vitest';
import { dropBlock, readBlock, readBlocks, saveBlock } from '../../../src/mirror/outbox/block-store.ts';
import { dueEntries } from '../../../src/mirror/outbox/outbox-queue.ts';
import { changeEntry, insertEntry } from '../../../src/mirror/outbox/outbox-store.ts';
import type { EntryPatch } from '../../../src/mirror/outbox/outbox-store.ts';
import type { Session } from '../../../src/mirror/session/session.ts';
import { DATABASES } from '../databases.ts';
import { NOON, NOON_TEXT, later } from '../temp-mirror.ts';

const block = (session: Session, kind: string, { reason = 'status 403', now = NOON } = {}): Promise<void> =>
  session.atomically((tx) =>
    saveBlock(tx, { kind, reason, now, probeAt: new Date(now.getTime() + 300_000) }),
  );

async function put(session: Session, patch: EntryPatch, kind = 'clients'): Promise<number> {
  return session.atomically(async (tx) => {
    const key = `${kind} ${JSON.stringify(patch)}`;
    const entry = { key, kind, operation: 'create', recordId: null, payload: '{}' } as const;
    const id = Number(await insertEntry(tx, { ...entry, base: null, naturalKey: null, now: NOON }));
    await changeEntry(tx, { id, epoch: 0, patch, now: NOON });
    return id;
  });
}

describe.each(DATABASES)('blocked kinds in %s', (_name, open) => {
  test('tell why, since when, and when to try again', async () => {
    const session = await open();
    expect(await readBlocks(session)).toEqual([]);
    await block(session, 'products');
    await block(session, 'clients');
    const clients = {
      kind: 'clients',
      reason: 'status 403',
      since: NOON_TEXT,
      probeAt: '2026-03-01 12:05:00.000',
    };
    expect(await readBlock(session, 'clients')).toEqual(clients);
    expect(await readBlocks(session)).toEqual([clients, { ...clients, kind: 'products' }]);
    expect(await readBlock(session, 'projects')).toBe(null);
  });

  test('blocked again keep since when, and take the new reason and the next try', async () => {
    const session = await open();
    await block(session, 'clients');
    await block(session, 'clients', { reason: 'status 401', now: later(300_000) });
    expect(await readBlocks(session)).toEqual([
      { kind: 'clients', reason: 'status 401', since: NOON_TEXT, probeAt: '2026-03-01 12:10:00.000' },
    ]);
  });

  test('that are free again make due what waited for them', async () => {
    const session = await open();
    await block(session, 'clients');
    await block(session, 'products');
    const nextAttemptAt = '2026-03-01 12:05:00.000';
    const waiting = await put(session, { verdict: 'kind_blocked', nextAttemptAt });
    await put(session, { verdict: 'busy', nextAttemptAt });
    await put(session, { state: 'parked', verdict: 'kind_blocked', nextAttemptAt });
    await put(session, { verdict: 'kind_blocked', nextAttemptAt }, 'products');
    await session.atomically((tx) => dropBlock(tx, 'clients', NOON));
    expect((await readBlocks(session)).map(({ kind }) => kind)).toEqual(['products']);
    expect(await dueEntries(session, NOON, 9)).toEqual([{ id: waiting, epoch: 0 }]);
  });

  test('that are not blocked are let go without touching the outbox', async () => {
    const session = await open();
    const nextAttemptAt = '2026-03-01 12:05:00.000';
    await put(session, { verdict: 'kind_blocked', nextAttemptAt });
    await session.atomically((tx) => dropBlock(tx, 'clients', NOON));
    expect(await dueEntries(session, NOON, 9)).toEqual([]);
  });
});
