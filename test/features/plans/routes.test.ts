import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { insertPlan } from '../../../src/features/plans/store.ts';
import { insertUser } from '../../../src/store/users/user-store.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { jsonOf, serveMirror } from '../../http/stage.ts';
import { ONE_DATABASE } from '../../store/databases.ts';
import { NOON_TEXT, putRecords } from '../../store/temp-mirror.ts';

/** Plan 1 of Ada's: a client gets another name and a credit of many digits; a second row is refused. */
const storePlan = (session: Session) =>
  session.atomically(async (tx) => {
    await putRecords(tx, 'clients', [{ id: '17', _raw: '{"id":17,"name":"Zoé","credit":1.10}' }]);
    const cells =
      '[{"field":"name","old":"Zoé","new":"=Zoé; Co"},{"field":"credit","old":1.10,"new":12345678901234567.80}]';
    const changed = { position: 2, operation: 'update', recordId: '17', cells, refusal: null } as const;
    const refused = { ...changed, position: 3, recordId: '18', cells: '[]', refusal: 'it is gone' };
    return insertPlan(
      tx,
      { kind: 'clients', origin: 'clients.csv', createdBy: 'Ada', createdAt: NOON_TEXT },
      [changed, refused],
    );
  });

describe.each(ONE_DATABASE)('over a mirror in %s', (_name, open) => {
  test('a plan is listed, shown, approved by another person, applied, and its result is a file', async () => {
    const session = await open();
    const stage = await serveMirror(session, { plans: { approvals: 1 } });
    await storePlan(session);
    await session.atomically((tx) => insertUser(tx, { name: 'ada', role: 'operator', token: 'of-ada' }));
    const ada = { authorization: 'Bearer of-ada' };

    const listed = await jsonOf(await stage.get('/v1/plans?limit=1'));
    expect(listed).toMatchObject({ plans: [{ id: 1, state: 'open', createdBy: 'Ada', approvedBy: null }] });
    expect(await jsonOf(await stage.get('/v1/plans?before=1'))).toEqual({ plans: [] });
    const shown = await stage.get('/v1/plans/1');
    expect(await shown.clone().text()).toContain('"old":1.10,"new":12345678901234567.80');
    expect(await jsonOf(shown)).toMatchObject({
      state: 'open',
      counts: { updates: 1, creates: 0, refusals: 1, entries: {} },
      rows: [{ position: 2, entry: null }, { refusal: 'it is gone' }],
    });

    const refusals = [
      await stage.post('/v1/plans/1/apply'),
      await stage.post('/v1/plans/1/approve', {}, ada),
      await stage.get('/v1/plans/9'),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([409, 403, 404]);
    await jsonOf(await stage.post('/v1/plans/1/approve'));
    const applied = await stage.post('/v1/plans/1/apply', {}, ada);
    expect(await jsonOf(applied)).toMatchObject({
      state: 'applied',
      approvedBy: 'admin',
      appliedBy: 'ada',
      counts: { entries: { ready: 1 } },
      notes: [expect.stringContaining('(writes_off)')],
    });
    expect(await jsonOf(await stage.get('/v1/plans/1'))).toMatchObject({
      notes: [expect.stringContaining('(writes_off)')],
    });
    const entry = await jsonOf(await stage.get('/v1/outbox/1'));
    expect(entry).toMatchObject({ pushedBy: 'ada' });
    const file = await stage.get('/v1/plans/1/result.csv');
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="plan-1.csv"');
    expect((await file.text()).split('\r\n')).toEqual([
      'row,operation,record,field,old,new,refused,entry,state,verdict',
      "2,update,17,name,Zoé,'=Zoé; Co,,1,ready,",
      '2,update,17,credit,1.10,12345678901234567.80,,1,ready,',
      '3,update,18,,,,it is gone,,,',
      '',
    ]);
  });

  test('a plan is rejected by another operator, withdrawn by its maker, and then takes no decision', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    for (const name of ['Ada', 'Marie'])
      await session.atomically((tx) => insertUser(tx, { name, role: 'operator', token: `of-${name}` }));
    const as = (name: string) => ({ authorization: `Bearer of-${name}` });
    for (let n = 0; n < 4; n += 1) await storePlan(session);
    const wrong = { reason: ' Wrong prices ' };

    const refusals = [
      await stage.post('/v1/plans/1/reject', wrong, as('Ada')),
      await stage.post('/v1/plans/1/withdraw', {}, as('Marie')),
      await stage.post('/v1/plans/1/reject', {}, as('Marie')),
      await stage.post('/v1/plans/1/reject', { reason: ' ' }, as('Marie')),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([403, 403, 400, 400]);
    const rejected = await jsonOf(await stage.post('/v1/plans/1/reject', wrong, as('Marie')));
    expect(rejected).toMatchObject({
      state: 'rejected',
      closedBy: 'Marie',
      reason: 'Wrong prices',
      next: null,
    });
    const withdrawn = await jsonOf(await stage.post('/v1/plans/2/withdraw', {}, as('Ada')));
    expect(withdrawn).toMatchObject({ state: 'withdrawn', closedBy: 'Ada', reason: null });
    for (const [id, decision] of [
      [3, 'reject'],
      [4, 'withdraw'],
    ] as const)
      expect(
        (await stage.post(`/v1/plans/${id}/${decision}`, decision === 'reject' ? wrong : {})).status,
      ).toBe(200);

    for (const decision of ['approve', 'apply', 'undo', 'withdraw'])
      for (const id of [1, 2]) {
        const refused = await stage.post(`/v1/plans/${id}/${decision}`);
        const { detail } = (await refused.json()) as { readonly detail: string };
        expect(refused.status).toBe(409);
        expect(detail).toMatch(
          id === 1
            ? /^Plan 1 was rejected by Marie at \d{4}-\d\d-\d\d \d\d:\d\d UTC: Wrong prices\.$/
            : /^Plan 2 was withdrawn by Ada at .* UTC\.$/,
        );
      }
    expect((await stage.post('/v1/plans/1/approve', {}, as('Ada'))).status).toBe(409);
    const decisions = await session.query(sql`select who, what, target from decisions order by id`);
    expect(decisions.map(({ who, what, target }) => [who, what, target])).toEqual([
      ['Marie', 'plans reject', '1'],
      ['Ada', 'plans withdraw', '2'],
      ['admin', 'plans reject', '3'],
      ['admin', 'plans withdraw', '4'],
    ]);
  });

  test('of apply and reject at once exactly one wins', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    for (let id = 1; id <= 6; id += 1) {
      await storePlan(session);
      const apply = () => stage.post(`/v1/plans/${id}/apply`);
      const reject = () => stage.post(`/v1/plans/${id}/reject`, { reason: 'no' });
      const answers = await Promise.all(id % 2 === 0 ? [apply(), reject()] : [reject(), apply()]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      const hasRejected = answers[id % 2 === 0 ? 1 : 0].status === 200;
      const { state } = (await jsonOf(await stage.get(`/v1/plans/${id}`))) as { readonly state: string };
      expect(state).toBe(hasRejected ? 'rejected' : 'applied');
      await session.atomically((tx) =>
        tx.query(sql`update clients set _changed_at = '2020-01-01 00:00:00.000' returning id`),
      );
    }
  });

  test('users are listed for admins, without anything of their tokens', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await session.atomically((tx) => insertUser(tx, { name: 'Ada', role: 'operator', token: 'of-ada' }));
    const { users } = (await jsonOf(await stage.get('/v1/users'))) as {
      readonly users: readonly object[];
    };
    expect(users).toEqual([{ name: 'Ada', role: 'operator', createdAt: expect.any(String) as string }]);
  });
});
