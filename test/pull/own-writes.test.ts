import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { asked, opened, spoil, update, type Stage } from '../outbound/stage.ts';
import { ONE_DATABASE } from './steps.ts';

/** Longer than a pull takes, on a busy machine too. */
const HOLD_MS = 2_500;

const nameOf = async (on: Stage, id: string): Promise<unknown> =>
  (await on.rows(sql`select name from clients where id = ${id}`))[0]?.['name'];

const pagesOf = async (on: Stage): Promise<unknown[]> =>
  (await on.rows(sql`select page from pages where kind = 'clients' order by page`)).map(({ page }) => page);

/** An update whose write the service has done and not answered yet. */
async function updateHolding(on: Stage, id: string, data: object): Promise<() => Promise<void>> {
  spoil(on, 'PUT', { holdMs: HOLD_MS }, { times: 1 });
  await on.store(update(id, { ...data }));
  const work = on.work();
  await expect.poll(() => asked(on, 'PUT').length).toBe(1);
  await expect.poll(() => on.service.world.get('clients', Number(id))).toMatchObject(data);
  return () => work;
}

describe.each(ONE_DATABASE)('a row that a write of ours is changing in %s', (database) => {
  test('is left alone by a page that lands, other rows of it land, and the page is read again', async () => {
    const on = await opened({ database });
    const client = await on.firstId('clients');
    const other = on.service.world.ids('clients').find((id) => String(id) !== client) ?? 0;
    const name = await nameOf(on, client);
    const before = await pagesOf(on);
    const done = await updateHolding(on, client, { name: 'Autre nom' });
    on.service.world.update('clients', other, { name: 'Theirs' });
    await on.pull('clients');
    expect(await nameOf(on, client)).toBe(name);
    expect(await on.events()).toEqual([`${other} updated service`]);
    expect(await pagesOf(on)).not.toEqual(before); // The page that shows it has no digest.
    await done();
    expect(await nameOf(on, client)).toBe('Autre nom');
    await on.pull('clients');
    expect(await pagesOf(on)).toEqual(before);
    expect(await on.events()).toEqual([`${other} updated service`, `${client} updated outbox:1`]);
  });
});

describe.each(ONE_DATABASE)('a row that a write of ours is changing in %s', (database) => {
  test('makes the counter leap, and a sweep under way counts on from there', async () => {
    const on = await opened({ database, service: { size: 6000 } });
    const client = await on.firstId('clients');
    // The first page, for the write to come in between; one in the middle, for those before it to land meanwhile.
    on.service.setFaults(
      [1, 20].map((page) => ({
        on: { kind: 'clients', method: 'GET', page },
        times: 1,
        do: { holdMs: 500 },
      })),
    );
    const seen = asked(on, 'GET').length;
    const sweep = on.pull('clients');
    await expect.poll(() => asked(on, 'GET').length).toBeGreaterThan(seen);
    await on.store(update(client, { name: 'Autre nom' }));
    await on.work();
    const [leapt] = await on.rows(sql`select _response from clients where id = ${client}`);
    await sweep;
    const [last] = await on.rows(sql`select max(sent) as sent from sightings where kind = 'clients'`);
    expect(Number(last?.['sent'])).toBeGreaterThan(Number(leapt?.['_response']));
  });

  test('is parsed even where its page shows the same bytes as before', async () => {
    const on = await opened({ database });
    const client = await on.firstId('clients');
    const sending = sql`
      insert into outbox (idempotency_key, kind, operation, record_id, payload, state, owner)
      values ('k', 'clients', 'update', ${client}, '{"name":"x"}', 'sending', 'us:1:a')`;
    await on.session.atomically((tx) => tx.query(sending));
    const before = await pagesOf(on);
    await on.pull('clients');
    expect(await pagesOf(on)).not.toEqual(before);
    await on.session.atomically((tx) => tx.query(sql`update outbox set state = 'done', owner = null`));
    await on.pull('clients');
    expect(await pagesOf(on)).toEqual(before);
  });

  test('is not found gone by a sweep that began before its write', async () => {
    const on = await opened({ database });
    on.service.setFaults([
      { on: { kind: 'clients', method: 'GET', page: 1 }, times: 1, do: { holdMs: 500 } },
    ]);
    const seen = asked(on, 'GET').length;
    const sweep = on.pull('clients');
    await expect.poll(() => asked(on, 'GET').length).toBeGreaterThan(seen);
    await on.store({ operation: 'create', kind: 'clients', data: { code: 'ZZ-1', name: 'Zoé' } });
    await on.work();
    await sweep;
    for (const seconds of [1000, 1000]) {
      await on.clock.sleep(seconds * 1000);
      await on.pull('clients');
    }
    expect((await on.events()).filter((event) => event.includes('deleted'))).toEqual([]);
  });
});
