import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { retryEntry } from '../../src/outbound/decisions/decide.ts';
import { resumeSends } from '../../src/outbound/freeze.ts';
import { freeze } from '../../src/store/outbox/freeze-store.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';
import { explain } from '../../src/words/verdicts.ts';
import { migrate } from '../../src/views/migrate.ts';
import { DATABASES, ONE_DATABASE } from '../pull/steps.ts';
import { sandbox } from '../pull/support.ts';
import { openForTest } from '../store/postgres-mirror.ts';
import { canary } from '../support/canary.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { keepState } from '../support/kept-state.ts';
import { startPostgresServer } from '../support/postgres-server.ts';
import { asked, create, opened, spoil, stage, update, type Stage } from './stage.ts';

/** Another process, which starts now. */
async function startAnother(on: Stage): Promise<Stage> {
  const other = stage(on.service, on.session, { clock: on.clock, parts: { owner: 'us:2:b' } });
  await other.outbox.due(0);
  return other;
}

const LINE = { purchase_id: '77', product_id: 'P-1' };
const line = () => create(LINE, 'purchase_products');
const pulls = (on: Stage) => on.rows(sql`select id from runs where command = 'pull'`);

describe.each(DATABASES)('on %s', (database) => {
  test('a mirror that was put back with its counter sends no create a second time', async () => {
    const on = await opened({ database, pulled: ['clients', 'purchase_products'] });
    const ids = [
      await on.store(create()),
      await on.store(line()),
      await on.store({ ...create({ code: 'ZZ-2', name: 'Zed' }), allowDouble: true }),
    ];
    const { restore } = await keepState(on.session);
    await on.work();
    await restore();
    const again = await startAnother(on);
    await again.work();
    for (const id of ids)
      expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'existed', attempts: 0 });
    expect(asked(on, 'POST')).toHaveLength(3);

    const [, second = 0] = ids;
    await on.clock.sleep(1000);
    await retryEntry(on.session, KINDS, { id: second, allowDouble: true }, on.clock.now());
    await again.work();
    expect(await on.entry(second)).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test('a create whose key the service has altered is not sent a second time either', async () => {
    const on = await opened({ database });
    const { world } = on.service;
    const insert = world.insert.bind(world);
    Object.assign(world, {
      insert: (kind: string, data: JsonObject) => insert(kind, { ...data, code: 'GARAGE-1' }),
    });
    const id = await on.store(create());
    const { restore } = await keepState(on.session);
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'altered' });
    await restore();
    await (await startAnother(on)).work();
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'existed', attempts: 0 });
    expect(asked(on, 'POST')).toHaveLength(1);
  });

  test('a create that was sent a second time is not sent a third time', async () => {
    const on = await opened({ database });
    spoil(on, 'POST', { drop: 'before' }, { times: 1 });
    const id = await on.store(create());
    await on.work();
    await on.clock.sleep(86_400_000);
    for (const due of await on.outbox.due(10)) await on.outbox.work(due);
    await on.pull('clients');
    const { restore } = await keepState(on.session);
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'resent' });
    await restore();
    await (await startAnother(on)).work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted' });
    expect(asked(on, 'POST')).toHaveLength(2);
  });
});

const BREAKS: readonly [string, (on: Stage) => unknown][] = [
  [
    'the machine stood still',
    ({ clock }) => {
      clock.setBy(120_000);
    },
  ],
  [
    'a person resumed sends',
    async ({ session, parts, clock }) => {
      await session.atomically((tx) => freeze(tx, 'restored', clock.now()));
      await resumeSends(session, parts.sendCounter);
    },
  ],
  [
    'a person resumed sends that no process had paused yet',
    async ({ session, parts, mark }) => {
      mark.sends = 9;
      await resumeSends(session, parts.sendCounter);
    },
  ],
];

describe.each(BREAKS)('after %s', (_what, breakOff) => {
  test.each(ONE_DATABASE)('a process that was idle reads before it creates on %s', async (database) => {
    const on = await opened({ database, pulled: ['purchase_products'] });
    const idle = await startAnother(on);
    await on.pull('purchase_products');
    const id = await on.store(line());
    const { restore } = await keepState(on.session);
    await on.work();
    await restore();
    await breakOff(on);
    await idle.work();
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'existed' });
    expect(asked(on, 'POST')).toHaveLength(1);
  });
});

test('after the database server was replaced, a process that was idle reads before it creates', async () => {
  const server = await startPostgresServer({ password: canary('-replaced') });
  onTestFinished(server.stop);
  const session = await openForTest(server.url);
  await migrate(session, KINDS);
  const on = stage(await sandbox(), session);
  const idle = await startAnother(on);
  await on.pull('clients');
  await on.store({ ...create(), allowDouble: true });
  const { restore } = await keepState(session);
  await on.work();
  await restore();
  await server.crash();
  await idle.work();
  expect(await on.rows(sql`select state, verdict from outbox`)).toEqual([
    { state: 'parked', verdict: 'existed' },
  ]);
  expect(asked(on, 'POST')).toHaveLength(1);
});

describe.each(ONE_DATABASE)('a start on %s', (database) => {
  test('has the kinds read that have waiting creates, once, and no other', async () => {
    const on = await opened({ database, pulled: ['clients', 'purchase_products'] });
    const id = await on.firstId('clients');
    await on.store(update(id, { name: 'New' }));
    const again = await startAnother(on);
    await again.work();
    expect(await pulls(on)).toHaveLength(1);
    await on.store(create());
    await on.store(create({ code: 'ZZ-2', name: 'Zed' }));
    await again.work();
    expect(await pulls(on)).toHaveLength(2);
    expect(asked(on, 'POST')).toHaveLength(2);
  });

  test('lets a create out whose equal was there before, or came after it was stored since the start', async () => {
    const on = await opened({ database, pulled: ['purchase_products'] });
    on.service.world.insert('purchase_products', LINE);
    await on.pull('purchase_products');
    await on.clock.sleep(600_000);
    const before = await on.store(line());
    const again = await startAnother(on);
    await again.work();
    expect(await on.entry(before)).toMatchObject({ state: 'done' });
    on.service.world.insert('purchase_products', LINE);
    await on.pull('purchase_products');
    const since = await on.store(line());
    await again.work();
    expect(await on.entry(since)).toMatchObject({ state: 'done' });
  });

  test('shows why a create waits where its list is not read to its end', async () => {
    const on = await opened({ database });
    const id = await on.store(create());
    on.service.setFaults([{ on: { kind: 'clients', method: 'GET' }, do: { html: true } }]);
    const again = await startAnother(on);
    for (const seconds of [60, 60]) await again.pass(seconds);
    const waiting = await on.entry(id);
    expect(waiting).toMatchObject({ state: 'ready', verdict: 'awaits_sweep', attempts: 0 });
    expect(explain(waiting).meaning).toContain('the answer was a web page');
  });
});

test('a request whose machine was suspended after its journal is not sent late', async () => {
  const clock = fakeClock();
  const sendCounter = {
    read: () => Promise.resolve(0),
    write: () => {
      clock.setBy(3_600_000);
      return Promise.resolve();
    },
  };
  const on = await opened({ clock, parts: { sendCounter } });
  const id = await on.store(create());
  for (const due of await on.outbox.due(10)) await on.outbox.work(due);
  expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'unreachable' });
  expect(asked(on, 'POST')).toEqual([]);
});
