import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { excludeFields } from '../../../src/catalog/exclude.ts';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { TABLE_OWNERS } from '../../../src/feature-hooks.ts';
import { parseObject, type JsonObject } from '../../../src/lib/json/json.ts';
import { removeExcluded } from '../../../src/store/schema/remove-excluded.ts';
import { type DATABASES, ONE_DATABASE } from '../../pull/steps.ts';
import { opened, push, spoil, type Stage } from '../stage.ts';

const ADA = { code: 'A-1', name: 'Garage Ada', city: '', website: '' };

const fieldsOfEvents = async (on: Stage): Promise<unknown[]> =>
  (await on.rows(sql`select origin, fields from changes where change = 'updated' order by seq`)).map(
    ({ origin, fields }) => [origin, parseObject(String(fields))],
  );

/** A field that was removed by the settings and is allowed again; the list has not been read since. */
async function readmitted(database: (typeof DATABASES)[number], client: JsonObject = ADA, hasBlanks = true) {
  const on = await opened({ database, pulled: [] });
  if (!hasBlanks) spoil(on, 'GET', { leavesOut: 'blanks' });
  const number = on.service.world.insert('clients', client)['id'] as number;
  await on.pull('clients');
  const excluding = KINDS.map((kind) => excludeFields(kind, kind.name === 'clients' ? ['website'] : []));
  for (const kinds of [excluding, KINDS]) await removeExcluded(on.session, kinds, TABLE_OWNERS);
  const id = String(number);
  const row = async () => (await on.rows(sql`select website from clients where id = ${id}`))[0];
  return { on, number, id, row };
}

describe.each(ONE_DATABASE)('in %s, a field that is allowed again', (database) => {
  test.each<[string, JsonObject, string | null]>([
    ['blank', { website: '' }, ''],
    ['null', { website: null }, null],
    ['left out', {}, null],
    ['filled', { website: 'old.example' }, 'old.example'],
  ])('and that we update before its list is read is an event: %s before', async (what, before, old) => {
    const { on, id, row } = await readmitted(database, { ...ADA, ...before }, what !== 'left out');
    const entry = await push(on, id, { website: 'ada.example' });
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent' });
    expect(await row()).toEqual({ website: 'ada.example' });
    const ours = [[`outbox:${entry}`, { website: [old === '' ? null : old, 'ada.example'] }]];
    expect(await fieldsOfEvents(on)).toEqual(ours);
    await on.pull('clients');
    expect(await fieldsOfEvents(on)).toEqual(ours);
  });

  test('and that an update without an answer has set is our event, and no other field of it is', async () => {
    const { on, id } = await readmitted(database);
    const entry = await push(on, id, { website: 'ada.example' });
    on.service.setFaults([
      { on: { kind: 'clients', method: 'PUT' }, times: 1, do: { drop: 'after' } },
      { on: { kind: 'clients', method: 'GET' }, skip: 1, times: 1, do: { status: 503 } },
    ]);
    await on.pass(60);
    await on.pass(60);
    expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent' });
    expect(await fieldsOfEvents(on)).toEqual([[`outbox:${entry}`, { website: [null, 'ada.example'] }]]);
  });

  test('is filled silently by an update of other fields', async () => {
    const { on, id, row } = await readmitted(database, { ...ADA, website: 'old.example' });
    const entry = await push(on, id, { city: 'Hull' });
    await on.work();
    expect(await row()).toEqual({ website: 'old.example' });
    expect(await fieldsOfEvents(on)).toEqual([[`outbox:${entry}`, { city: ['', 'Hull'] }]]);
  });

  test.each(['before', 'after'])(
    'is no conflict where it was removed: sent %s the list is read',
    async (when) => {
      const { on, id, number } = await readmitted(database, { ...ADA, website: 'old.example' });
      const entry = await push(on, id, { website: 'ada.example' });
      if (when === 'after') await on.pull('clients');
      await on.work();
      expect(await on.entry(entry)).toMatchObject({ state: 'done', verdict: 'sent' });
      const later = await push(on, id, { website: 'third.example' });
      on.service.world.update('clients', number, { website: 'theirs.example' });
      await on.work();
      expect(await on.entry(later)).toMatchObject({ state: 'parked', verdict: 'conflict' });
    },
  );

  test('is blank again where its list has been read without it', async () => {
    const { on, id, number } = await readmitted(database);
    spoil(on, 'GET', { leavesOut: 'blanks' });
    await on.pull('clients');
    const entry = await push(on, id, { website: 'ada.example' });
    on.service.world.update('clients', number, { website: 'theirs.example' });
    await on.work();
    expect(await on.entry(entry)).toMatchObject({ state: 'parked', verdict: 'conflict' });
  });
});
