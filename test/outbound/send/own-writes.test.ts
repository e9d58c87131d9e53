import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { FaultAction } from '../../../sandbox/faults.ts';
import { parseObject, type JsonObject } from '../../../src/lib/json/json.ts';
import { type DATABASES, ONE_DATABASE } from '../../pull/steps.ts';
import { asked, opened, push, spoil, update } from '../stage.ts';

async function scene(database: (typeof DATABASES)[number], client: JsonObject) {
  const on = await opened({ database, pulled: [] });
  const number = on.service.world.insert('clients', { code: 'Z-1', ...client })['id'] as number;
  await on.pull('clients');
  return {
    on,
    number,
    id: String(number),
    shows: (fields: JsonObject) => on.service.world.update('clients', number, fields),
  };
}

describe.each(ONE_DATABASE)('in %s', (database) => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    [
      'an amount with the noise of a float',
      { credit: '0.10' },
      parseObject('{"credit":0.1000000000001}'),
      { credit: '5' },
    ],
    [
      'escaped HTML',
      { name: 'Tom &amp; l&#039;&eacute;t&eacute;' },
      { name: "Tom & l'été" },
      { name: 'Other' },
    ],
    ['a blank at the end', { name: 'Zoé' }, { name: 'Zoé ' }, { name: 'Other' }],
    ['composed accents', { name: 'Zoe\u0301' }, { name: 'Zoé' }, { name: 'Other' }],
    [
      'a text in a nested list',
      { contacts: [{ nom: 'A &amp; B' }] },
      { contacts: [{ nom: 'A & B' }] },
      { contacts: [] },
    ],
  ])('%s is no change of another user', async (_what, listed, shown, wanted) => {
    const { on, id, shows } = await scene(database, listed);
    const entry = await push(on, id, wanted);
    shows(shown);
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent' });
  });
});

describe.each(ONE_DATABASE)('in %s', (database) => {
  test.each<[string, JsonObject, JsonObject]>([
    ['cents of a long amount', { credit: '12345678901.23' }, { credit: '12345678901.24' }],
    ['an ampersand', { name: 'Tom & Co' }, { name: 'Tom Co' }],
    ['a case', { name: 'zoé' }, { name: 'Zoé' }],
  ])('%s is a change of another user', async (_what, listed, shown) => {
    const { on, id, shows } = await scene(database, listed);
    const entry = await push(on, id, { credit: '5', name: 'Other' });
    shows(shown);
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'conflict' });
  });

  test('who wants a spelling changed gets it', async () => {
    const { on, id, number } = await scene(database, { name: 'Tom &amp; Co' });
    const entry = await push(on, id, { name: 'Tom & Co' });
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent' });
    expect(on.service.world.get('clients', number)?.['name']).toBe('Tom & Co');
  });

  test('a value that somebody else has written in another spelling is there already', async () => {
    const { on, id, shows } = await scene(database, { credit: '3' });
    const entry = await push(on, id, { credit: '0.10' });
    shows(parseObject('{"credit":0.1000000000001}'));
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'already_so' });
  });

  test('a text that the service trims is taken, not left out', async () => {
    const { on, id } = await scene(database, { name: 'Zoé' });
    spoil(on, 'PUT', { ignoreFields: ['name'] });
    const entry = await push(on, id, { name: 'Zoé ' });
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test('an old page that shows our update taken back makes it nobody else’s', async () => {
    const { on, id, shows } = await scene(database, { name: 'Before' });
    await push(on, id, { name: 'Ours' });
    await on.work();
    shows({ name: 'Before' }); // What an old page shows.
    await on.clock.sleep(1000);
    await on.pull('clients');
    shows({ name: 'Ours' });
    const entry = await push(on, id, { name: 'Next' });
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test('an old page that shows two of our updates taken back makes them nobody else’s', async () => {
    const { on, id, shows } = await scene(database, { name: 'Before' });
    for (const name of ['Ours', 'Ours again']) {
      await push(on, id, { name });
      await on.work();
    }
    shows({ name: 'Before' }); // What an old page shows.
    await on.clock.sleep(1000);
    await on.pull('clients');
    shows({ name: 'Ours again' });
    const entry = await push(on, id, { name: 'Next' });
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test('a base that its author read before our update was done does not make that another user’s', async () => {
    const { on, id } = await scene(database, { name: 'Before' });
    const first = await push(on, id, { name: 'Ours' });
    const second = await push(on, id, { name: 'Next' }, { name: 'Before' });
    await on.work();
    const third = await push(on, id, { name: 'Last' }, { name: 'Ours' });
    await on.work();
    for (const entry of [first, second, third])
      expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test('a change of another user and back stays theirs, where the base is theirs', async () => {
    const { on, id, shows } = await scene(database, { name: 'Before' });
    await push(on, id, { name: 'Ours' });
    await on.work();
    shows({ name: 'Theirs' });
    await on.clock.sleep(1000);
    await on.pull('clients');
    const entry = await push(on, id, { name: 'Next' });
    shows({ name: 'Ours' });
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'conflict' });
  });

  test.each<[string, FaultAction]>([
    ['was lost after the commit', { drop: 'after' }],
    ['was lost before the commit, where another user then wrote the same', { drop: 'before' }],
    [
      'puts it off, where another user may have written the same',
      { statusAfter: 202, body: '{"success":true}' },
    ],
  ])('an update whose answer %s stays ours, unproven', async (_when, action) => {
    const { on, id, shows } = await scene(database, { name: 'Before' });
    spoil(on, 'PUT', action, { times: 1 });
    const entry = await on.store(update(id, { name: 'Ours' }));
    await on.work();
    if ('drop' in action && action.drop === 'before') shows({ name: 'Ours' });
    await on.pass(60);
    const { state, verdict, result } = await on.entry(entry);
    expect({ state, verdict, result: parseObject(result ?? '{}') }).toEqual({
      state: 'done',
      verdict: 'sent',
      result: { unproven: ['name'] },
    });
    expect(asked(on, 'PUT')).toHaveLength(1);
    expect(await on.rows(sql`select origin from changes`)).toEqual([{ origin: `outbox:${entry}` }]);
  });

  test('an update that is answered after a lost one is proven', async () => {
    const { on, id } = await scene(database, { name: 'Before' });
    spoil(on, 'PUT', { drop: 'before' }, { times: 1 });
    const entry = await on.store(update(id, { name: 'Ours' }));
    await on.work();
    await on.pass(60);
    expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent', result: '{}' });
  });
});
