import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { probeBlocks } from '../../../src/store/outbox/outbox-queue.ts';
import type { Fault } from '../../../sandbox/faults.ts';
import { type DATABASES, ONE_DATABASE } from '../../pull/steps.ts';
import { asked, opened, update, type Stage } from '../stage.ts';

const refused = (id: string, method: string): Fault => ({
  on: { kind: 'clients', method, id },
  do: { refuse: true },
});

/** A mirror of clients, with an update of each of the first ones. */
async function scene(database: (typeof DATABASES)[number], updates: number) {
  const on = await opened({ database });
  const ids = on.service.world
    .ids('clients')
    .toSorted((a, b) => a - b)
    .slice(0, updates)
    .map(String);
  const entries: number[] = [];
  for (const id of ids) entries.push(await on.store(update(id, { fax: `555-${id}` })));
  return { on, ids, entries };
}

const endsOf = async (on: Stage, entries: readonly number[]): Promise<readonly (string | null)[]> => {
  const ends = await Promise.all(entries.map((entry) => on.entry(entry)));
  return ends.map(({ state, verdict }) => `${state} ${verdict ?? ''}`);
};

const blocks = (on: Stage) => on.rows(sql`select kind from write_blocks`);

describe.each(ONE_DATABASE)('a record that the service refuses, in %s', (database) => {
  test.each(['GET', 'PUT'])('to %s is parked alone; all others go', async (method) => {
    const { on, ids, entries } = await scene(database, 4);
    on.service.setFaults([refused(ids[0] ?? '', method)]);
    await on.work();
    expect(await endsOf(on, entries)).toEqual(['parked forbidden', 'done sent', 'done sent', 'done sent']);
    expect(await blocks(on)).toEqual([]);
  });
});

describe.each(ONE_DATABASE)('in %s', (database) => {
  test('a locked record that is alone in the outbox steps back, and is parked only once another write has succeeded', async () => {
    const { on, ids, entries } = await scene(database, 1);
    on.service.setFaults([refused(ids[0] ?? '', 'PUT')]);
    await on.work();
    for (let probe = 0; probe < 3; probe++) await on.pass(300);
    expect(await endsOf(on, entries)).toEqual(['ready forbidden']);
    expect(await blocks(on)).toEqual([]);
    expect(asked(on, 'PUT')).toHaveLength(4);
    const other = String(on.service.world.ids('clients').at(-1));
    await on.store(update(other, { fax: '1' }));
    await on.work();
    expect(await endsOf(on, entries)).toEqual(['parked forbidden']);
  });

  test('a locked record of a kind that nothing else is written of waits no longer than the patience', async () => {
    const { on, ids, entries } = await scene(database, 1);
    on.service.setFaults([refused(ids[0] ?? '', 'PUT')]);
    await on.work();
    await on.pass(86_000);
    expect(await endsOf(on, entries)).toEqual(['ready forbidden']);
    await on.pass(400);
    expect(await endsOf(on, entries)).toEqual(['parked forbidden']);
  });

  test('a locked record is written by itself once it is unlocked, at once when serve starts', async () => {
    const { on, ids, entries } = await scene(database, 1);
    on.service.setFaults([refused(ids[0] ?? '', 'PUT')]);
    await on.work();
    on.service.setFaults([]);
    await on.session.atomically(probeBlocks);
    await on.work();
    expect(await endsOf(on, entries)).toEqual(['done sent']);
  });

  test('two locked records block the kind until one that did not try goes', async () => {
    const { on, ids, entries } = await scene(database, 5);
    on.service.setFaults(ids.slice(0, 2).map((id) => refused(id, 'PUT')));
    await on.work();
    expect(await blocks(on)).toHaveLength(1);
    expect(asked(on, 'PUT')).toHaveLength(2);
    await on.pass(300);
    expect(await endsOf(on, entries)).toEqual([
      'parked forbidden',
      'parked forbidden',
      'done sent',
      'done sent',
      'done sent',
    ]);
    expect(await blocks(on)).toEqual([]);
  });

  test('two locked records are parked, too, where the service accepts another write and does nothing', async () => {
    const { on, ids, entries } = await scene(database, 3);
    const [first = '', second = '', third = ''] = ids;
    const ignored = {
      on: { kind: 'clients', method: 'PUT', id: third },
      do: { status: 200, body: '{"success":true}' },
    };
    on.service.setFaults([refused(first, 'PUT'), refused(second, 'PUT'), ignored]);
    await on.work();
    for (let probe = 0; probe < 3; probe++) await on.pass(300);
    expect(await endsOf(on, entries)).toEqual(['parked forbidden', 'parked forbidden', 'parked not_applied']);
    expect(await blocks(on)).toEqual([]);
  });

  test('who has tried in vain tries last again, also after a restart', async () => {
    const { on, ids } = await scene(database, 3);
    on.service.setFaults([{ on: { kind: 'clients', method: 'PUT' }, do: { refuse: true } }]);
    await on.work();
    for (let probe = 0; probe < 3; probe++) await on.pass(300);
    await on.session.atomically(probeBlocks);
    await on.work();
    const [a, b, c] = ids.map((id) => `/api/clients/${id}`);
    expect(asked(on, 'PUT').slice(0, 3)).toEqual([a, b, c]);
    expect(new Set(asked(on, 'PUT').slice(3, 6))).toEqual(new Set([a, b, c]));
  });

  test.each(['GET', 'PUT'])(
    'a token that may %s nothing any more blocks the kind, which comes back by itself',
    async (method) => {
      const { on, entries } = await scene(database, 3);
      on.service.setFaults([{ on: { kind: 'clients', method }, do: { refuse: true } }]);
      await on.work();
      for (let probe = 0; probe < 6; probe++) await on.pass(300);
      expect(new Set(await endsOf(on, entries))).toEqual(new Set(['ready kind_blocked']));
      on.service.setFaults([]);
      for (let probe = 0; probe < 3; probe++) await on.pass(300);
      expect(new Set(await endsOf(on, entries))).toEqual(new Set(['done sent']));
    },
  );
});
