import { describe, expect, test } from 'vitest';
import { saveHeartbeat } from '../../../src/store/runs/worker-store.ts';
import { endLeases } from '../../support/lapse.ts';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { UsageError } from '../../../src/lib/sync-error.ts';
import {
  closeAttempt,
  openAttempt,
  findCreator,
  saveLink,
} from '../../../src/store/outbox/attempts-and-links.ts';
import { readMeta, writeMeta } from '../../../src/store/kinds/meta.ts';
import { claimEntry } from '../../../src/store/outbox/outbox-queue.ts';
import { saveErasure } from '../../../src/store/records/erasure-store.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { adoptRecord, abandonEntry, retryEntry } from '../../../src/outbound/decisions/decide.ts';
import type { EntryPatch, EntryState } from '../../../src/store/outbox/outbox-store.ts';
import { freeze, readFrozen } from '../../../src/store/outbox/freeze-store.ts';
import { readHistory } from '../../../src/outbound/decisions/entry-list.ts';
import { resumeSends } from '../../../src/outbound/freeze.ts';
import { TWO_KINDS } from '../../support/postgres-templates.ts';
import { putEntry, readEntry, STATES, UPDATE } from '../../store/outbox/entries.ts';
import {
  NOON,
  NOON_TEXT,
  later,
  putRecords,
  syncErrorOf,
  tempMirror,
  thrownBy,
} from '../../store/temp-mirror.ts';

const open = (): Promise<Session> => tempMirror(TWO_KINDS);
const LATER = later(60_000);
const LATER_TEXT = '2026-03-01 12:01:00.000';
const attempted = (session: Session, outboxId: number, grade: string | null): Promise<void> =>
  session.atomically(async (tx) => {
    await openAttempt(tx, { outboxId, n: 1, request: 'POST /api/clients\n{}', now: NOON });
    if (grade !== null)
      await closeAttempt(tx, { outboxId, n: 1, grade, status: null, responseStart: null, now: NOON });
  });

const counterOf = (sends: number) => ({ read: () => Promise.resolve(sends) });

const codeOf = async (work: () => Promise<unknown>): Promise<string> => (await syncErrorOf(work)).code;

/** Decides an entry in each state; returns from which that could be. */
async function decidableFrom(
  decide: (session: Session, id: number) => Promise<unknown>,
): Promise<EntryState[]> {
  const session = await open();
  await session.atomically((tx) =>
    putRecords(
      tx,
      'clients',
      STATES.map((_, index) => ({ id: String(index + 1) })),
    ),
  );
  const decidable: EntryState[] = [];
  for (const state of STATES) {
    const id = await putEntry(session, { state });
    try {
      await decide(session, id);
      decidable.push(state);
    } catch (error) {
      expect(error).toMatchObject({ code: 'outbox.wrong_state' });
      expect(await readEntry(session, id)).toMatchObject({ state, epoch: 0 });
    }
  }
  return decidable;
}

describe('retry', () => {
  test('is of what is parked or rejected', async () => {
    expect(await decidableFrom((session, id) => retryEntry(session, KINDS, { id }, LATER))).toEqual([
      'parked',
      'rejected',
    ]);
  });

  test('makes an update ready; its tries still count, and whoever was notified of it works in vain', async () => {
    const session = await open();
    const id = await putEntry(
      session,
      { state: 'parked', verdict: 'conflict', result: '{}', settlement: { failedReads: 2 }, attempts: 3 },
      UPDATE,
    );
    await attempted(session, id, 'ambiguous');
    const { entry, warning } = await retryEntry(session, KINDS, { id }, LATER);
    expect(entry).toMatchObject({
      id,
      state: 'ready',
      verdict: null,
      result: null,
      settlement: {},
      attempts: 3,
      epoch: 1,
      nextAttemptAt: LATER_TEXT,
      updatedAt: LATER_TEXT,
    });
    expect(warning).toBe(null);
    expect(await readEntry(session, id)).toEqual(entry);
    expect(await session.atomically((tx) => claimEntry(tx, { id, epoch: 0, owner: 'me', now: LATER }))).toBe(
      null,
    );
    expect(
      await session.atomically((tx) => claimEntry(tx, { id, epoch: 1, owner: 'me', now: LATER })),
    ).toMatchObject({ id });
  });

  test.each(['ambiguous', 'rejected', 'unsent', null])(
    'looks once more for a create whose try was graded %s; what the person has seen stays noted',
    async (grade) => {
      const session = await open();
      const settlement = { ids: ['501', '502'] };
      const id = await putEntry(session, { state: 'parked', verdict: 'twins', settlement, attempts: 1 });
      await attempted(session, id, grade);
      expect((await retryEntry(session, KINDS, { id }, LATER)).entry).toMatchObject({
        state: 'unsettled',
        verdict: 'retry',
        settlement,
        attempts: 1,
        nextAttemptAt: LATER_TEXT,
        epoch: 1,
      });
    },
  );

  test('of an entry that there is not', async () => {
    const session = await open();
    expect(await codeOf(() => retryEntry(session, KINDS, { id: 404 }, LATER))).toBe('outbox.absent');
  });
});

describe('an order whose result stands', () => {
  test.each<[string, EntryPatch, (session: Session, id: number) => Promise<unknown>]>([
    ['abandon', { state: 'abandoned', verdict: 'no_such_record' }, (s, id) => abandonEntry(s, id, LATER)],
    ['retry', { state: 'ready' }, (s, id) => retryEntry(s, KINDS, { id }, LATER)],
    ['retry', { state: 'unsettled', verdict: 'retry' }, (s, id) => retryEntry(s, KINDS, { id }, LATER)],
    [
      'adopt',
      { state: 'done' },
      (session, id) => adoptRecord(session, { kinds: KINDS, id, recordId: '5', now: LATER }),
    ],
  ])('%s on %o says that nothing is left to do, and does not propose itself', async (name, patch, order) => {
    const session = await open();
    const id = await putEntry(session, patch);
    const { message, hint } = await syncErrorOf(() => order(session, id));
    expect(message).toBe(`Entry ${id} is ${String(patch.state)} already: nothing is left to do.`);
    expect(hint).not.toContain(`outbox ${name} `);
  });
});

describe('retry --overwrite', () => {
  const conflicts = [{ field: 'name', base: 'A', remote: 'B', wanted: 'C' }];
  const shown = JSON.stringify({ conflicts });

  test.each<[string, EntryPatch]>([
    ['whose record is gone', { verdict: 'gone' }],
    ['whose id belongs to another record', { verdict: 'other_record', result: shown }],
    ['whose values are not kept', { verdict: 'conflict', result: '{"conflicts":[{"field":"name"}]}' }],
    ['that an older release has parked', { verdict: 'conflict' }],
  ])('is not of an entry %s', async (_what, patch) => {
    const session = await open();
    const id = await putEntry(session, { state: 'parked', base: '{"name":"A"}', ...patch }, UPDATE);
    const overwrite = () => retryEntry(session, KINDS, { id, overwrite: true }, LATER);
    expect(await codeOf(overwrite)).toBe('outbox.wrong_state');
    expect(await readEntry(session, id)).toMatchObject({ state: 'parked', base: '{"name":"A"}', epoch: 0 });
  });
});

describe('abandon', () => {
  test('is of all that is neither over nor being sent', async () => {
    expect(await decidableFrom((session, id) => abandonEntry(session, id, LATER))).toEqual([
      'ready',
      'unsettled',
      'parked',
      'rejected',
    ]);
  });

  test('is not of what somebody works on at this moment', async () => {
    const session = await open();
    await saveHeartbeat(session, { owner: 'somebody', roles: ['outbound'] });
    for (const state of ['ready', 'unsettled'] as const) {
      const id = await putEntry(session, { state, owner: 'somebody' });
      expect(await codeOf(() => abandonEntry(session, id, LATER))).toBe('outbox.in_work');
      expect(await readEntry(session, id)).toMatchObject({ state, owner: 'somebody', epoch: 0 });
    }
  });

  test('takes an entry from a process that has ended, which another decision leaves to the next one', async () => {
    const session = await open();
    const reader = { session, sendCounter: counterOf(0) };
    const id = await putEntry(session, { state: 'sending', owner: 'gone', verdict: 'busy' });
    await attempted(session, id, null);
    await saveHeartbeat(session, { owner: 'gone', roles: ['outbound'] });
    expect((await readHistory({ ...reader, kinds: KINDS }, id)).entry.verdict).toBeNull();
    await endLeases(session);
    expect((await readHistory({ ...reader, kinds: KINDS }, id)).entry).toMatchObject({
      state: 'sending',
      verdict: 'interrupted',
    });
    expect(await codeOf(() => retryEntry(session, KINDS, { id, hurriedBy: 'anna' }, LATER))).toBe(
      'outbox.wrong_state',
    );
    expect(await abandonEntry(session, id, LATER)).toMatchObject({
      entry: { state: 'abandoned', epoch: 1 },
      warning: expect.stringContaining('it was sent once') as string,
    });
  });

  test.each([
    ['ambiguous', true],
    [null, true],
    ['rejected', false],
    ['unsent', false],
  ])('of a create whose try was graded %s warns: %s', async (grade, warns) => {
    const session = await open();
    const id = await putEntry(session, { state: 'unsettled', verdict: 'looking', nextAttemptAt: NOON_TEXT });
    await attempted(session, id, grade);
    const { entry, warning } = await abandonEntry(session, id, LATER);
    expect(entry).toMatchObject({ state: 'abandoned', verdict: 'looking', nextAttemptAt: null, epoch: 1 });
    expect(warning !== null).toBe(warns);
  });

  test('wakes what waited for it, and nothing else', async () => {
    const session = await open();
    const waiting = { verdict: 'waits', nextAttemptAt: '2026-03-02 00:00:00.000' };
    const create = await putEntry(session, { state: 'parked' });
    const behind = await putEntry(session, waiting);
    const other = await putEntry(session, waiting, { naturalKey: 'C-2' });
    const update = await putEntry(session, { state: 'parked' }, UPDATE);
    const next = await putEntry(session, waiting, UPDATE);
    await abandonEntry(session, create, LATER);
    const times = async () =>
      Promise.all([behind, other, next].map(async (id) => (await readEntry(session, id)).nextAttemptAt));
    expect(await times()).toEqual([LATER_TEXT, waiting.nextAttemptAt, waiting.nextAttemptAt]);
    await abandonEntry(session, update, LATER);
    expect(await times()).toEqual([LATER_TEXT, waiting.nextAttemptAt, LATER_TEXT]);
  });
});

describe('adopt', () => {
  const adopt = (session: Session, id: number, recordId: string) =>
    adoptRecord(session, { kinds: KINDS, id, recordId, now: LATER });

  const withRecords = async (session: Session): Promise<Session> => {
    await session.atomically((tx) =>
      putRecords(tx, 'clients', [{ id: '501' }, { id: '502', _deleted_at: NOON_TEXT }]),
    );
    return session;
  };

  test('is of creates that are parked, unsettled or rejected', async () => {
    let record = 0;
    const from = await decidableFrom((session, id) => adopt(session, id, String(++record)));
    expect(from).toEqual(['unsettled', 'parked', 'rejected']);
  });

  test('settles the create, links its record and wakes what waited', async () => {
    const session = await withRecords(await open());
    const id = await putEntry(session, { state: 'parked', verdict: 'look_alike', nextAttemptAt: NOON_TEXT });
    const behind = await putEntry(session, { verdict: 'waits', nextAttemptAt: '2026-03-02 00:00:00.000' });
    const { entry, warning } = await adopt(session, id, '501');
    expect(warning).toBe(null);
    expect(entry).toMatchObject({
      state: 'done',
      verdict: 'adopted',
      recordId: '501',
      nextAttemptAt: null,
      epoch: 1,
    });
    expect(await findCreator(session, 'clients', '501')).toBe(id);
    expect((await readEntry(session, behind)).nextAttemptAt).toBe(LATER_TEXT);
  });

  test('is of live records of the mirror only', async () => {
    const session = await withRecords(await open());
    const id = await putEntry(session, { state: 'parked' });
    for (const recordId of ['404', '502']) {
      const fault = await thrownBy(() => adopt(session, id, recordId));
      expect(fault).toMatchObject({
        code: 'outbox.no_record',
        hint: `Read it first: bms-sync pull clients, or bms-sync backfill clients --ids ${recordId}`,
      });
    }
    const erasure = { kind: 'clients', id: '502', by: 'ada', isSuppressed: true, now: NOON };
    await session.atomically((tx) => saveErasure(tx, erasure));
    expect(await thrownBy(() => adopt(session, id, '502'))).toMatchObject({
      message: 'Record 502 of clients is kept out of the mirror: forgotten.',
      hint: `No pull returns it. To end the entry: bms-sync outbox abandon ${id}`,
    });
    expect(await readEntry(session, id)).toMatchObject({ state: 'parked', recordId: null, epoch: 0 });
    expect(await thrownBy(() => adopt(session, id, 'x'))).toBeInstanceOf(UsageError);
  });

  test('is not of a record that another entry has made', async () => {
    const session = await withRecords(await open());
    const maker = await putEntry(session, { state: 'parked' });
    const id = await putEntry(session, { state: 'parked' });
    await adopt(session, maker, '501');
    const fault = await thrownBy(() => adopt(session, id, '501'));
    expect(fault).toMatchObject({
      code: 'outbox.record_taken',
      message: `Record 501 of clients was made by entry ${maker}.`,
    });
    expect(await readEntry(session, id)).toMatchObject({ state: 'parked', epoch: 0 });
  });

  test('is of a record whose id a restored service has used again', async () => {
    const session = await withRecords(await open());
    const maker = await putEntry(session, { state: 'parked' }, { payload: '{"code":"A-1"}' });
    const id = await putEntry(session, { state: 'parked' }, { payload: '{"code":"B-1"}' });
    await adopt(session, maker, '501');
    const shows = (code: string) =>
      session.atomically((tx) =>
        putRecords(tx, 'clients', [{ id: '501', code, _raw: `{"id":501,"code":"${code}"}` }]),
      );
    await shows('A-1');
    expect(await codeOf(() => adopt(session, id, '501'))).toBe('outbox.record_taken');
    await shows('B-1');
    expect((await adopt(session, id, '501')).entry).toMatchObject({ state: 'done', verdict: 'adopted' });
    expect(await findCreator(session, 'clients', '501')).toBe(id);
  });

  test('of the record that is linked already is fine; of another one, not', async () => {
    const session = await withRecords(await open());
    await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '503' }]));
    const id = await putEntry(session, { state: 'parked' });
    await session.atomically((tx) => saveLink(tx, { kind: 'clients', recordId: '501', outboxId: id }, NOON));
    expect(await codeOf(() => adopt(session, id, '503'))).toBe('outbox.record_taken');
    expect((await adopt(session, id, '501')).entry).toMatchObject({ state: 'done', recordId: '501' });
  });

  test('is not of an update, of what is worked on, or of a kind that there is not', async () => {
    const session = await withRecords(await open());
    const update = await putEntry(session, { state: 'parked' }, UPDATE);
    const inWork = await putEntry(session, { state: 'unsettled', owner: 'somebody' });
    await saveHeartbeat(session, { owner: 'somebody', roles: ['outbound'] });
    const noKind = await putEntry(session, { state: 'rejected' }, { kind: 'klients' });
    expect(await codeOf(() => adopt(session, update, '501'))).toBe('outbox.wrong_state');
    expect(await codeOf(() => adopt(session, inWork, '501'))).toBe('outbox.in_work');
    expect(await codeOf(() => adopt(session, noKind, '501'))).toBe('outbox.no_record');
    expect(await codeOf(() => adopt(session, 404, '501'))).toBe('outbox.absent');
  });
});

describe('frozen sends', () => {
  test('go on once a person says so, and the mark is believed from then on', async () => {
    const session = await open();
    expect(await readFrozen(session)).toBe(null);
    expect(await resumeSends(session, counterOf(0))).toBe(null);
    await session.atomically((tx) => freeze(tx, 'restored', NOON));
    await session.atomically((tx) => freeze(tx, 'something else', LATER));
    expect(await readFrozen(session)).toEqual({ reason: 'restored', since: NOON_TEXT });
    expect(await resumeSends(session, counterOf(12))).toEqual({ reason: 'restored', since: NOON_TEXT });
    expect(await readFrozen(session)).toBe(null);
    expect(await readMeta(session, 'outbox.sends')).toBe('12');
  });

  test('keep their count where the mark counts fewer, or there is none', async () => {
    const session = await open();
    await session.atomically((tx) => writeMeta(tx, 'outbox.sends', '7'));
    await session.atomically((tx) => freeze(tx, 'restored', NOON));
    await resumeSends(session, counterOf(0));
    expect(await readMeta(session, 'outbox.sends')).toBe('7');
  });
});
