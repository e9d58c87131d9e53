import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { UsageError } from '../../../src/lib/sync-error.ts';
import { changeEntry, findByKeys, findEntry } from '../../../src/store/outbox/outbox-store.ts';
import { saveErasure } from '../../../src/store/records/erasure-store.ts';
import { applyRetention } from '../../../src/pull/retention.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { readBatch, type EntryRequest } from '../../../src/outbound/intake/entry-request.ts';
import { checkRequests, storeChecked } from '../../../src/outbound/intake/intake.ts';
import { postgresMirror } from '../../both/support.ts';
import { bystander } from '../../support/postgres.ts';
import { KEEP_ALL } from '../../support/retention.ts';
import { TWO_KINDS } from '../../support/postgres-templates.ts';
import { NOON, NOON_TEXT, later, putRecords, syncErrorOf, tempMirror } from '../../store/temp-mirror.ts';

const open = (): Promise<Session> => tempMirror(TWO_KINDS);

const ADA: EntryRequest = {
  operation: 'create',
  kind: 'clients',
  data: { code: 'C-1', name: 'Ada' },
  key: 'ada',
};
const RENAME: EntryRequest = { operation: 'update', kind: 'clients', id: '17', data: { name: 'Ada' } };
const RAW = '{"id":17,"code":"C-17","name":"Bea","credit":"10.10"}';

const store = async (session: Session, ...requests: readonly EntryRequest[]) =>
  storeChecked(session, await checkRequests(session, KINDS, requests), NOON);

const storedRows = async (session: Session): Promise<number> =>
  Number((await session.query(sql`select count(*) as n from outbox`))[0]?.['n']);

async function withRecord(session: Session, deletedAt: string | null = null): Promise<Session> {
  await session.atomically((tx) =>
    putRecords(tx, 'clients', [{ id: '17', code: 'C-17', _raw: RAW, _deleted_at: deletedAt }]),
  );
  return session;
}

describe('requests', () => {
  test('become entries that are ready to be sent', async () => {
    const session = await open();
    const [stored, ...others] = await store(session, ADA);
    expect(others).toEqual([]);
    expect(stored).toEqual({
      id: 1,
      key: 'ada',
      kind: 'clients',
      operation: 'create',
      recordId: null,
      state: 'ready',
      isNew: true,
      notes: [],
    });
    expect(await findEntry(session, 1)).toMatchObject({
      key: 'ada',
      state: 'ready',
      payload: '{"code":"C-1","name":"Ada"}',
      base: null,
      epoch: 0,
      attempts: 0,
      owner: null,
      nextAttemptAt: null,
      createdAt: NOON_TEXT,
      updatedAt: NOON_TEXT,
      naturalKey: expect.stringContaining('C-1') as string,
    });
  });

  test('to create what an open entry creates are refused, in one batch too', async () => {
    const session = await open();
    const again = { ...ADA, key: undefined, data: { name: 'Ada the second', code: 'C-1' } };
    const both = await syncErrorOf(() =>
      store(session, { ...ADA, where: 'line 1' }, { ...again, where: 'line 2' }),
    );
    expect(both).toBeInstanceOf(UsageError);
    expect(both).toMatchObject({
      code: 'outbox.double',
      message: 'line 2: line 1 creates a record of clients with the same natural key.',
    });
    expect(await storedRows(session)).toBe(0);
    const [first] = await store(session, ADA);
    expect((await syncErrorOf(() => store(session, again))).code).toBe('outbox.double');
    expect(await store(session, ADA)).toEqual([{ ...first, isNew: false }]);
    expect(await store(session, { ...again, allowDouble: true })).toMatchObject([{ isNew: true }]);
    expect(await store(session, { ...again, data: { code: 'c-1' } })).toMatchObject([{ isNew: true }]);
  });

  test('of which two are the same, in one batch, are stored once', async () => {
    const session = await open();
    const stored = await store(session, ADA, ADA);
    expect(stored.map(({ id, isNew }) => [id, isNew])).toEqual([
      [1, true],
      [1, false],
    ]);
  });

  test('of a thousand updates are read and stored in one go', async () => {
    const session = await withRecord(await open());
    const many = Array.from({ length: 1000 }, (_, n) => ({ ...RENAME, data: { name: `N ${n}` } }));
    const stored = await store(session, ...many);
    expect(stored.map(({ id }) => id)).toEqual(many.map((_, n) => n + 1));
  });

  test('without a key get one each that nobody else has', async () => {
    const session = await open();
    const anonymous = { ...ADA, key: undefined };
    const [one, other] = await store(session, anonymous, { ...anonymous, allowDouble: true });
    expect([one?.isNew, other?.isNew]).toEqual([true, true]);
    expect(one?.key).toMatch(/^[0-9a-f-]{36}$/);
    expect(other?.key).not.toBe(one?.key);
  });

  test('to create what a live record is are refused with the record', async () => {
    const session = await withRecord(await open());
    const again = { ...ADA, data: { code: 'C-17', name: 'Other' } };
    const refused = await syncErrorOf(() => store(session, again));
    expect(refused).toMatchObject({
      code: 'outbox.double',
      message: 'Record 17 of clients has the same natural key.',
      hint: expect.stringContaining('--allow-double') as string,
    });
    expect(await store(session, { ...again, allowDouble: true })).toMatchObject([{ isNew: true }]);
  });

  test('to create what was deleted, or purchase lines that repeat, are stored', async () => {
    const session = await withRecord(await open(), NOON_TEXT);
    expect(await store(session, { ...ADA, data: { code: 'C-17' } })).toMatchObject([{ isNew: true }]);
    const line = {
      operation: 'create',
      kind: 'purchase_products',
      data: { purchase_id: '7', product_id: '8' },
    };
    expect(await store(session, line, line)).toMatchObject([{ isNew: true }, { isNew: true }]);
  });

  test('to create what an earlier entry made are refused, whatever key the service gave it', async () => {
    const session = await withRecord(await open());
    await store(session, ADA);
    const patch = { state: 'done', verdict: 'altered', recordId: '17' } as const;
    await session.atomically((tx) => changeEntry(tx, { id: 1, epoch: 0, patch, now: NOON }));
    const again = { ...ADA, key: 'again' };
    expect(await syncErrorOf(() => store(session, again))).toMatchObject({
      code: 'outbox.double',
      message: 'Record 17 of clients, made by entry 1 of the outbox, has the same natural key.',
    });
    await session.atomically((tx) =>
      tx.query(sql`update clients set _deleted_at = ${NOON_TEXT} where id = 17`),
    );
    expect(await store(session, again)).toMatchObject([{ isNew: true }]);
  });

  test('that were stored before, under the same key, are told as they are by now', async () => {
    const session = await open();
    await store(session, ADA);
    await session.atomically((tx) =>
      changeEntry(tx, { id: 1, epoch: 0, patch: { state: 'done', recordId: '501' }, now: later(1) }),
    );
    const again = { ...ADA, data: { name: 'Ada', code: 'C-1' } };
    expect(await store(session, again, again)).toEqual(
      [1, 1].map((id) => ({
        id,
        key: 'ada',
        kind: 'clients',
        operation: 'create',
        recordId: '501',
        state: 'done',
        isNew: false,
        notes: [],
      })),
    );
    expect(await storedRows(session)).toBe(1);
  });

  test.each<[string, Partial<EntryRequest>]>([
    ['of another kind', { kind: 'providers' }],
    ['with another body', { data: { code: 'C-1', name: 'Bea' } }],
    ['with one field more', { data: { code: 'C-1', name: 'Ada', fax: '' } }],
    ['of another operation', { operation: 'update', id: '1' }],
  ])(
    '%s under a key that is taken are refused, and nothing of their batch is stored',
    async (_case, other) => {
      const session = await open();
      await store(session, ADA);
      const fault = await syncErrorOf(() =>
        store(session, { ...ADA, key: 'new', where: 'line 1' }, { ...ADA, ...other, where: 'line 2' }),
      );
      expect(fault.code).toBe('outbox.key_taken');
      expect(fault.message).toBe('line 2: The key "ada" belongs to entry 1, another create of clients.');
      expect(await storedRows(session)).toBe(1);
    },
  );

  test('that differ under one key, in one batch, are refused, both', async () => {
    const session = await open();
    const fault = await syncErrorOf(() => store(session, ADA, { ...ADA, data: { code: 'C-2' } }));
    expect(fault.code).toBe('outbox.key_taken');
    expect(await storedRows(session)).toBe(0);
  });

  test('with any fault leave nothing behind; all faults are told, each with its place', async () => {
    const session = await open();
    const requests = await readBatch(
      [
        '{"operation":"create","kind":"clients","data":{"code":"C-1"}}',
        '',
        '{"operation":"create","kind":"klients","data":{}}',
        'not JSON',
        '[]',
        '{"operation":"update","kind":"clients","id":1,"data":{"name":"x"},"dta":1}',
        '{"operation":"create","kind":"clients","data":{"code":"C-1"},"key":""}',
      ].join('\r\n'),
    );
    const fault = await syncErrorOf(() => store(session, ...requests));
    expect(fault).toBeInstanceOf(UsageError);
    expect(fault).toMatchObject({ code: 'outbox.invalid', hint: 'None of the entries was stored.' });
    expect(fault.message.split('\n').map((line) => line.trim().slice(0, 40))).toEqual([
      '6 faults:',
      'line 3: kind: there is no record kind "kl'.slice(0, 40),
      'line 3: data: no field to write',
      'line 4: expected a JSON object',
      'line 5: expected a JSON object',
      'line 6: unknown: dta; an entry has operation'.slice(0, 40),
      'line 7: key: expected a text of 1 to 200 characters'.slice(0, 40),
    ]);
    expect(await storedRows(session)).toBe(0);
  });

  test('with the key of a row of a plan are refused', async () => {
    const session = await open();
    expect(await syncErrorOf(() => store(session, { ...ADA, key: 'plan:3:2' }))).toMatchObject({
      code: 'outbox.invalid',
      message: 'key: only a row of a plan has the key plan:3:2; choose another',
    });
    expect(await store(session, { ...ADA, key: 'plan:b' })).toMatchObject([{ isNew: true }]);
  });

  test.each([['', 5, 'x'.repeat(201), '   ', 'a\u0000'].map((key) => [key])].flat())(
    'with the key %j are refused',
    async (key) => {
      const session = await open();
      expect((await syncErrorOf(() => store(session, { ...ADA, key }))).message).toMatch(
        /^key: expected a text/,
      );
    },
  );
});

describe('the base of an update', () => {
  const baseOf = async (session: Session): Promise<string | null | undefined> =>
    (await findEntry(session, 1))?.base;

  test("is the mirror's row where the caller tells none, every digit of it", async () => {
    const session = await withRecord(await open());
    expect((await store(session, RENAME))[0]).toMatchObject({ recordId: '17', notes: [] });
    expect(await baseOf(session)).toBe(RAW);
  });

  test("is the caller's where they tell one, by the names of a read", async () => {
    const session = await withRecord(await open());
    await store(session, { ...RENAME, base: { address2: 'x', name: 'Bea' } });
    expect(await baseOf(session)).toBe('{"adresse2":"x","name":"Bea"}');
  });

  test('is unknown where the mirror has no row: the caller is told', async () => {
    const session = await open();
    expect((await store(session, RENAME))[0]?.notes).toEqual([
      'the mirror does not have record 17 of clients: if the service does, its values are overwritten',
    ]);
    expect(await baseOf(session)).toBe(null);
  });

  test('may be of a row that is deleted: the caller is told', async () => {
    const session = await withRecord(await open(), NOON_TEXT);
    expect((await store(session, RENAME))[0]?.notes).toEqual([
      'the mirror holds record 17 of clients as deleted',
    ]);
    const erasure = { kind: 'clients', id: '17', by: 'ada', isSuppressed: true, now: NOON };
    await session.atomically((tx) => saveErasure(tx, erasure));
    expect((await store(session, { ...RENAME, key: 'again' }))[0]?.notes).toEqual([
      'record 17 of clients is kept out of the mirror: forgotten',
    ]);
  });

  test('counts for the key only where the caller tells one: the row may have changed meanwhile', async () => {
    const session = await withRecord(await open());
    const keyed = { ...RENAME, key: 'rename' };
    await store(session, keyed);
    await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '17', _raw: '{"id":17}' }]));
    expect((await store(session, keyed))[0]).toMatchObject({ id: 1, isNew: false });
    expect((await store(session, { ...keyed, base: JSON.parse(RAW) as never }))[0]?.isNew).toBe(false);
    const other = await syncErrorOf(() => store(session, { ...keyed, base: { name: 'Zoé' } }));
    expect(other.code).toBe('outbox.key_taken');
    expect((await syncErrorOf(() => store(session, { ...keyed, id: '18' }))).code).toBe('outbox.key_taken');
  });
});

describe('a row of an application', () => {
  const insert = (session: Session, payload: string) =>
    session.atomically((tx) =>
      tx.query(sql`
        insert into outbox (idempotency_key, kind, operation, payload)
        values ('ada', 'clients', 'create', ${payload})`),
    );

  test('that has the key and no JSON is another request', async () => {
    const session = await open();
    await insert(session, '{');
    expect((await syncErrorOf(() => store(session, ADA))).code).toBe('outbox.key_taken');
  });

  test('that asks for the same is the same request', async () => {
    const session = await open();
    await insert(session, '{ "name": "Ada", "code": "C-1" }');
    expect((await store(session, ADA))[0]).toMatchObject({ id: 1, isNew: false, state: 'ready' });
    expect((await findByKeys(session, ['ada']))[0]?.id).toBe(1);
  });
});

describe('the key of an entry that ended long ago', () => {
  async function ended(request: EntryRequest): Promise<Session> {
    const session = await withRecord(await open());
    await store(session, request);
    const patch = { state: 'done', recordId: '17' } as const;
    await session.atomically((tx) => changeEntry(tx, { id: 1, epoch: 0, patch, now: NOON }));
    await applyRetention(session, { ...KEEP_ALL, outboxDays: 365 }, later(366 * 86_400_000));
    return session;
  }

  test('still answers the same request with what became of it', async () => {
    const session = await ended(ADA);
    expect(await storedRows(session)).toBe(0);
    const again = { ...ADA, data: { name: 'Ada', code: 'C-1' } };
    expect(await store(session, again)).toEqual([
      {
        id: 1,
        key: 'ada',
        kind: 'clients',
        operation: 'create',
        recordId: '17',
        state: 'done',
        isNew: false,
        notes: [],
      },
    ]);
    expect(await storedRows(session)).toBe(0);
  });

  test('still refuses another request', async () => {
    const session = await ended(ADA);
    const other = await syncErrorOf(() => store(session, { ...ADA, data: { code: 'C-1', name: 'Eve' } }));
    expect(other).toMatchObject({
      code: 'outbox.key_taken',
      message: expect.stringContaining('entry 1') as string,
    });
  });
});

test('a key that a program inserts by SQL at the same moment is compared like any other, in a batch too', async () => {
  const { session, url } = await postgresMirror('template_two_kinds');
  const program = await bystander(url);
  await program.query('set search_path to bms_sync');
  const whileInserting = async (key: string, ...requests: readonly EntryRequest[]) => {
    await program.query('begin');
    await program.query(
      'insert into outbox (idempotency_key, kind, operation, payload) values ($1, $2, $3, $4)',
      [key, 'clients', 'create', '{"code":"C-1","name":"Ada"}'],
    );
    const stored = store(session, ...requests).catch((error: unknown) => error);
    const waiting = sql`select 1 as one from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(() => session.query(waiting)).toHaveLength(1);
    await program.query('commit');
    return await stored;
  };
  const bea = { ...ADA, key: 'bea', data: { code: 'B-1' } };
  expect(await whileInserting('ada', bea, ADA)).toMatchObject([
    { key: 'bea', isNew: true },
    { key: 'ada', isNew: false },
  ]);
  const eve = { ...ADA, key: 'eve', data: { code: 'E-1' } };
  const refused = await whileInserting('eve', { ...bea, key: 'cleo', data: { code: 'C-9' } }, eve);
  expect(refused).toMatchObject({ code: 'outbox.key_taken' });
  expect(await storedRows(session)).toBe(3);
});
