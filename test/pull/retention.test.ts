import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { appendChanges } from '../../src/store/records/change-store.ts';
import { findEnded, findEndedByKeys } from '../../src/store/outbox/ended-entries.ts';
import { findHighestUnknownLink, findCreator, saveLink } from '../../src/store/outbox/attempts-and-links.ts';
import { changeEntry, findEntry, type EntryPatch } from '../../src/store/outbox/outbox-store.ts';
import { applyRetention, type Retention } from '../../src/pull/retention.ts';
import { finishRun, listRuns, startRun } from '../../src/store/runs/run-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import { KEEP_ALL } from '../support/retention.ts';
import { DATABASES } from '../store/databases.ts';
import { insertEntry, newEntry } from '../store/outbox/entries.ts';
import { NOON, later } from '../store/temp-mirror.ts';

const DAY = 86_400_000;

const keep = (session: Session, settings: Partial<Retention>): Promise<void> =>
  applyRetention(session, { ...KEEP_ALL, ...settings }, NOON);

async function endedRun(session: Session, days: number): Promise<number> {
  const begun = { command: 'pull', kinds: ['clients'], owner: 'a', now: NOON };
  const id = await startRun(session, begun);
  await finishRun(
    session,
    { runId: id, owner: 'a' },
    { state: 'done', reason: null, now: later(-days * DAY) },
  );
  return id;
}

const saveEvents = (session: Session, now: Date, count = 1): Promise<void> =>
  session.atomically((tx) =>
    appendChanges(tx, {
      kind: 'clients',
      origin: 'service',
      runId: 1,
      now,
      events: Array.from({ length: count }, () => ({
        recordId: '1',
        change: 'created',
        before: null,
        after: '{}',
        fields: '{}',
        observedFrom: null,
      })),
    }),
  );

const rows = async (session: Session, table: string): Promise<number> =>
  Number((await session.query(sql`select count(*) as n from ${sql.identifier(table)}`))[0]?.['n']);

async function entry(
  session: Session,
  key: string,
  patch: EntryPatch & { readonly days: number },
): Promise<number> {
  const { days, ...changes } = patch;
  return session.atomically(async (tx) => {
    const id = await insertEntry(tx, newEntry({ key, payload: '{"name":"Ada"}', now: later(-400 * DAY) }));
    if (id === null) throw new Error(`The key ${key} is taken.`);
    await changeEntry(tx, { id, epoch: 0, patch: changes, now: later(-days * DAY) });
    await tx.insertRows({
      table: 'outbox_attempts',
      columns: ['outbox_id', 'n', 'opened_at', 'request'],
      rows: [[id, 1, '2026-01-01 00:00:00.000', 'POST']],
    });
    return id;
  });
}

describe.each(DATABASES)('retention in %s', (_name, open) => {
  test('removes runs that ended longer ago, and keeps all where the setting is null', async () => {
    const session = await open();
    await endedRun(session, 31);
    const edge = await endedRun(session, 30);
    await keep(session, {});
    expect(await listRuns(session, { limit: 9 })).toHaveLength(2);
    await keep(session, { runsDays: 30 });
    expect((await listRuns(session, { limit: 9 })).map(({ id }) => id)).toEqual([edge]);
  });

  test('removes old change events, but never the latest', async () => {
    const session = await open();
    for (const days of [40, 31, 20]) await saveEvents(session, later(-days * DAY));
    await keep(session, { changesDays: 30 });
    expect(await rows(session, 'changes')).toBe(1);
    await keep(session, { changesDays: 0 });
    expect(await rows(session, 'changes')).toBe(1);
  });

  test('removes closed issues, notes of drift and proven deletions, and leaves what is open', async () => {
    const session = await open();
    const old = '2025-01-01 00:00:00.000';
    await session.atomically(async (tx) => {
      await tx.query(sql`insert into issues (kind, code, first_seen_at, closed_at) values
        ('clients', 'a', ${old}, ${old}), ('clients', 'b', ${old}, null)`);
      await tx.query(
        sql`insert into drift (kind, code, detail, seen_at) values ('clients', 'c', '', ${old})`,
      );
      await tx.query(sql`insert into deletions (kind, record_id, state, sweep, absent_since, concluded_at) values
        ('clients', '1', 'deleted', 1, ${old}, ${old}), ('clients', '2', 'held', 1, ${old}, null)`);
    });
    await keep(session, { issuesDays: 365 });
    expect([
      await rows(session, 'issues'),
      await rows(session, 'drift'),
      await rows(session, 'deletions'),
    ]).toEqual([1, 0, 1]);
  });

  test('keeps of an entry that ended its key, its record and the hash of its request', async () => {
    const session = await open();
    const id = await entry(session, 'a', { days: 366, state: 'done', recordId: '17' });
    await session.atomically((tx) => saveLink(tx, { kind: 'clients', recordId: '17', outboxId: id }, NOON));
    await keep(session, { outboxDays: 365 });
    expect(await findEntry(session, id)).toBeNull();
    expect([await rows(session, 'outbox_attempts'), await rows(session, 'links')]).toEqual([0, 0]);
    expect([await findEnded(session, id)]).toEqual(await findEndedByKeys(session, ['a']));
    expect((await findEndedByKeys(session, ['a']))[0]).toMatchObject({
      id,
      kind: 'clients',
      recordId: '17',
      state: 'done',
    });
    expect(await findCreator(session, 'clients', '17')).toBe(id);
    const again = { kind: 'clients', recordId: '17', outboxId: id + 1 };
    expect(await session.atomically((tx) => saveLink(tx, again, NOON))).toBe(false);
    expect(await findHighestUnknownLink(session)).toBeNull();
  });

  test('leaves entries that are open or young', async () => {
    const session = await open();
    await entry(session, 'parked', { days: 366, state: 'parked' });
    await entry(session, 'young', { days: 364, state: 'done' });
    await keep(session, { outboxDays: 365 });
    expect([await rows(session, 'outbox'), await rows(session, 'outbox_keys')]).toEqual([2, 0]);
  });

  test('leaves an entry while another one of its record is open', async () => {
    const session = await open();
    await entry(session, 'first', { days: 366, state: 'done', recordId: '17' });
    const second = await entry(session, 'second', { days: 366, state: 'parked', recordId: '17' });
    await keep(session, { outboxDays: 365 });
    expect(await rows(session, 'outbox')).toBe(2);
    await session.atomically((tx) =>
      changeEntry(tx, { id: second, epoch: 0, patch: { state: 'abandoned' }, now: later(-366 * DAY) }),
    );
    await keep(session, { outboxDays: 365 });
    expect(await rows(session, 'outbox')).toBe(0);
  });

  test('archives more entries than one transaction takes', async () => {
    const session = await open();
    const values = Array.from({ length: 1203 }, (_, n) => [
      `k${n}`,
      'clients',
      'create',
      '{}',
      'done',
      '2024-01-01 00:00:00.000',
    ]);
    const columns = ['idempotency_key', 'kind', 'operation', 'payload', 'state', 'updated_at'];
    await session.atomically((tx) => tx.insertRows({ table: 'outbox', columns, rows: values }));
    await keep(session, { outboxDays: 365 });
    expect([await rows(session, 'outbox'), await rows(session, 'outbox_keys')]).toEqual([0, 1203]);
  });
});
