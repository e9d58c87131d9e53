import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { memoryLog } from '../../runs/engine/support.ts';
import { ONE_DATABASE } from '../../pull/steps.ts';
import { ZOE, create, opened, spoil, update, type Opening } from '../stage.ts';

/** A stage, and the outcomes that it has logged. */
async function logged(opening: Opening = {}) {
  const log = memoryLog();
  const on = await opened({ ...opening, parts: { logger: log.logger } });
  return { on, outcomes: () => log.lines.filter(({ event }) => event !== undefined) };
}

describe.each(ONE_DATABASE)('in %s', (database) => {
  test('an entry that is done is one line with its record, however often it is worked', async () => {
    const { on, outcomes } = await logged({ database });
    spoil(on, 'POST', { status: 429, retryAfter: '60' }, { times: 2 });
    const id = await on.store(create(ZOE));
    await on.work();
    for (let minute = 0; minute < 20; minute++) await on.pass(61);
    const { recordId } = await on.entry(id);
    expect(outcomes()).toMatchObject([
      { level: 30, event: 'entry.done', entryId: id, kind: 'clients', record: recordId, operation: 'create' },
    ]);
  });

  test('a rejected and a parked entry are warnings that say what to do', async () => {
    const { on, outcomes } = await logged({ database });
    spoil(on, 'POST', { status: 422 }, { times: 1 });
    const refused = await on.store(create(ZOE));
    await on.work();
    const wrong = await on.store(update('999999', { name: 'a' }));
    await on.work();
    const next = ['To abandon it: bms-sync outbox abandon 2']; // No other attempt would find it.
    expect(outcomes()).toMatchObject([
      {
        level: 40,
        event: 'entry.rejected',
        entryId: refused,
        verdict: 'service_refused',
        reason: '{"status":422,"answer":"Simulated status 422."}',
      },
      { level: 40, event: 'entry.parked', entryId: wrong, record: '999999', verdict: 'no_such_record', next },
    ]);
  });

  test('an entry that fails its checks is told as well', async () => {
    const { on, outcomes } = await logged({ database });
    await on.session.atomically((tx) =>
      tx.query(sql`
        insert into outbox (idempotency_key, kind, operation, payload) values ('k', 'clients', 'create', '{}')`),
    );
    await on.work();
    const reason = '{"faults":["data: no field to write"]}';
    const msg = expect.stringContaining(reason) as unknown;
    expect(outcomes()).toMatchObject([
      { event: 'entry.rejected', verdict: 'invalid', record: null, reason, msg },
    ]);
  });

  test('a kind that the token may not write is told once, not with every probe', async () => {
    const { on, outcomes } = await logged({ database });
    spoil(on, 'POST', { status: 403 }, { times: 3 });
    const id = await on.store(create(ZOE));
    await on.work();
    for (let probe = 0; probe < 2; probe++) await on.pass(301);
    expect(outcomes()).toMatchObject([{ level: 40, event: 'kind.blocked', kind: 'clients' }]);
    await on.pass(301);
    expect(await on.entry(id)).toMatchObject({ state: 'done' });
    expect(outcomes().map(({ event }) => event)).toEqual(['kind.blocked', 'entry.done']);
  });
});
