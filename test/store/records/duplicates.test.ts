import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { DATABASES, ONE_DATABASE } from '../../pull/steps.ts';
import { ZOE, asked, create, enter, opened, spoil, zoes, type Stage } from '../../outbound/stage.ts';

const DAY = 86_400;

const duplicates = (on: Stage) =>
  on.rows(sql`select record_id, detail, closed_at is null as open from issues where code = 'twins'`);
const openOnes = async (on: Stage): Promise<unknown[]> =>
  (await duplicates(on)).flatMap((issue) => (Number(issue['open']) === 1 ? [issue] : []));

describe.each(DATABASES)('a pull of %s', (database) => {
  test('reports the record of another user that has the key of ours, once, until one of the two is gone', async () => {
    const on = await opened({ database });
    const theirs = enter(on, { ...ZOE, name: 'Made by another user' }); // Since the list was read.
    const id = await on.store(create());
    await on.work();
    const { recordId, ...sent } = await on.entry(id);
    expect(sent).toMatchObject({ state: 'done', verdict: 'sent', nextAttemptAt: null });
    await on.pull('clients');
    await on.pull('clients');
    expect(await openOnes(on)).toEqual([
      expect.objectContaining({ record_id: recordId, detail: JSON.stringify([theirs]) }),
    ]);
    on.service.world.remove('clients', Number(theirs));
    for (let times = 0; times < 3; times++) {
      await on.pull('clients');
      await on.clock.sleep(3_600_000);
    }
    expect(await openOnes(on)).toEqual([]);
    expect(await duplicates(on)).toHaveLength(1);
  });
});

describe.each(ONE_DATABASE)('a pull of %s', (database) => {
  test('reports the record of a lost request that arrives late, and repairs nothing', async () => {
    const on = await opened({ database });
    spoil(on, 'POST', { drop: 'after' }, { times: 1 });
    const id = await on.store(create());
    await on.work();
    await on.pass(300);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted' });
    const late = enter(on, ZOE);
    await on.clock.sleep(20 * DAY * 1000);
    await on.pull('clients');
    await on.work();
    const { recordId } = await on.entry(id);
    expect(await openOnes(on)).toEqual([
      expect.objectContaining({ record_id: recordId, detail: JSON.stringify([late]) }),
    ]);
    expect([asked(on, 'POST').length, zoes(on)]).toEqual([1, 2]);
  });

  test('reports it in a kind without a natural key, too, where a lost request may have made it', async () => {
    const on = await opened({ database, pulled: ['vehicle_brands'] });
    const brand = { name: 'Zenith Motors' };
    await on.store(create(brand, 'vehicle_brands'));
    await on.work();
    on.service.world.insert('vehicle_brands', brand); // No request of ours was lost.
    await on.pull('vehicle_brands');
    expect(await openOnes(on)).toEqual([]);
    const other = { name: 'Zeta Motors' };
    spoil(on, 'POST', { drop: 'after' }, { kind: 'vehicle_brands', times: 1 });
    const id = await on.store(create(other, 'vehicle_brands'));
    await on.work();
    await on.pass(300);
    const { recordId } = await on.entry(id);
    const { id: late } = on.service.world.insert('vehicle_brands', other);
    await on.pull('vehicle_brands');
    expect(await openOnes(on)).toEqual([
      expect.objectContaining({ record_id: recordId, detail: JSON.stringify([String(Number(late))]) }),
    ]);
  });

  test('reports none whose key differs by case, and none that was wanted', async () => {
    const on = await opened({ database });
    enter(on, { ...ZOE, code: 'zz-1' });
    await on.store(create());
    await on.work();
    await on.store({ ...create(), allowDouble: true });
    await on.work();
    await on.pull('clients');
    expect(zoes(on)).toBe(2);
    expect(await openOnes(on)).toEqual([]);
  });
});
