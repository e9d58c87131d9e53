import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { ONE_DATABASE, type DATABASES } from '../../pull/steps.ts';
import { ZOE, asked, create, opened, spoil, zoes, enter, type Stage } from '../stage.ts';

const DAY = 86_400;

async function adopted(database: (typeof DATABASES)[number] = 'SQLite'): Promise<{ on: Stage; id: number }> {
  const on = await opened({ database });
  spoil(on, 'POST', { drop: 'after' }, { times: 1 });
  const id = await on.store(create());
  await on.work();
  await on.pass(300);
  expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted' });
  return { on, id };
}

const twins = (on: Stage) =>
  on.rows(sql`select record_id, detail, closed_at from issues where code = 'twins'`);

test.each(ONE_DATABASE)(
  'a second record of an adopted create is told, once, and not repaired, in %s',
  async (database) => {
    const { on, id } = await adopted(database);
    const twin = enter(on, ZOE);
    await on.clock.sleep(2 * DAY * 1000);
    await on.pull('clients');
    await on.work();
    await on.pass(3600);
    const { recordId } = await on.entry(id);
    expect(await twins(on)).toEqual([
      { record_id: recordId, detail: JSON.stringify([twin]), closed_at: null },
    ]);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted' });
    expect(asked(on, 'POST')).toHaveLength(1);
    expect(zoes(on)).toBe(2);
  },
);

test('a record that only resembles it is none', async () => {
  const { on } = await adopted();
  on.service.world.insert('clients', { ...ZOE, name: 'Other' });
  await on.clock.sleep(DAY * 1000);
  await on.pull('clients');
  await on.work();
  expect(await twins(on)).toEqual([]);
});

test('the watch ends a week after the send, and looks once an hour until then', async () => {
  const { on, id } = await adopted();
  expect((await on.entry(id)).nextAttemptAt).not.toBeNull();
  const looks = (await on.entry(id)).epoch;
  await on.pass(3599);
  expect((await on.entry(id)).epoch).toBe(looks);
  await on.pass(1);
  expect((await on.entry(id)).epoch).toBeGreaterThan(looks);
  await on.pass(7 * DAY);
  expect((await on.entry(id)).nextAttemptAt).toBeNull();
});

test('a create that waited for weeks before it was sent again is watched for a week all the same', async () => {
  const on = await opened();
  spoil(on, 'POST', { drop: 'before' }, { times: 1 });
  const id = await on.store(create());
  await on.work();
  await on.pass(20 * DAY); // Nobody was there to look.
  expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'resent' });
  await on.pass(3600);
  expect((await on.entry(id)).nextAttemptAt).not.toBeNull();
  on.service.world.insert('clients', ZOE); // The first send arrives.
  await on.pull('clients');
  await on.work();
  expect(await twins(on)).toHaveLength(1);
});

test('a create that was answered at once is not watched', async () => {
  const on = await opened();
  const id = await on.store(create());
  await on.work();
  expect((await on.entry(id)).nextAttemptAt).toBeNull();
});
