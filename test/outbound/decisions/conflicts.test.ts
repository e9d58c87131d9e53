import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { parseObject, type JsonObject } from '../../../src/lib/json/json.ts';
import { abandonEntry, retryEntry } from '../../../src/outbound/decisions/decide.ts';
import { checkRequests, storeChecked } from '../../../src/outbound/intake/intake.ts';
import { ONE_DATABASE } from '../../pull/steps.ts';
import { syncErrorOf } from '../../store/temp-mirror.ts';
import { asked, opened, push, spoil, type Opening, type Stage } from '../stage.ts';

async function scene(opening: Opening = {}, client: JsonObject = { name: 'Ada', city: 'Laval' }) {
  const on = await opened({ ...opening, pulled: [] });
  const number = on.service.world.insert('clients', { code: 'Z-1', ...client })['id'] as number;
  await on.pull('clients');
  const others = (fields: JsonObject) => on.service.world.update('clients', number, fields);
  return { on, id: String(number), others, remote: () => on.service.world.get('clients', number) };
}

/** Decides on an entry, and works what is due then. */
async function retry(on: Stage, id: number, overwrite?: true) {
  await on.clock.sleep(1000);
  await retryEntry(on.session, on.parts.kinds, { id, overwrite }, on.clock.now());
  await on.work();
  return await on.entry(id);
}

const CONFLICT = { state: 'parked', verdict: 'conflict' };

describe.each(ONE_DATABASE)('a conflict in %s', (database) => {
  test('shows its values, lands them, and is overwritten by a decision', async () => {
    const { on, id, others, remote } = await scene({ database });
    const entry = await push(on, id, { name: 'Ours', city: 'Lévis' });
    others({ name: 'Theirs', term: 9 });
    await on.work();
    expect(await on.entry(entry)).toMatchObject(CONFLICT);
    const [row] = await on.rows(sql`select name, term from clients where id = ${id}`);
    expect(row).toEqual({ name: 'Theirs', term: 9 });
    expect(await on.events()).toEqual([`${id} updated service`]);

    expect(await retry(on, entry, true)).toMatchObject({ state: 'done', verdict: 'sent' });
    expect(remote()).toMatchObject({ name: 'Ours', city: 'Lévis', term: 9 });
    expect((await on.events()).slice(1)).toEqual([`${id} updated outbox:${entry}`]);
  });

  test('is not tried again while it would conflict again, but is once the value is back', async () => {
    const { on, id, others, remote } = await scene({ database });
    const entry = await push(on, id, { name: 'Ours' });
    others({ name: 'Theirs' });
    await on.work();
    expect(await syncErrorOf(() => retry(on, entry))).toMatchObject({
      code: 'outbox.conflict',
      message: `Entry ${entry} would conflict again: another user has changed name.`,
      hint: expect.stringContaining(`bms-sync outbox retry ${entry} --overwrite`) as string,
    });
    expect(await on.entry(entry)).toMatchObject(CONFLICT);
    others({ name: 'Ada' });
    await on.pull('clients');
    expect(await retry(on, entry)).toMatchObject({ state: 'done' });
    expect(remote()).toMatchObject({ name: 'Ours' });
  });
});

describe.each(ONE_DATABASE)('an overwritten conflict in %s', (database) => {
  test('conflicts again where one of its fields has changed since, and then in that one alone', async () => {
    const { on, id, others, remote } = await scene({ database });
    const entry = await push(on, id, { name: 'Ours', city: 'Lévis', credit: '5.00' });
    others({ name: 'Theirs', city: 'Amos' });
    await on.work();
    others({ city: 'Alma' });
    const { state, result } = await retry(on, entry, true);
    const conflicts = [{ field: 'city', base: 'Amos', remote: 'Alma', wanted: 'Lévis' }];
    expect([state, JSON.parse(String(result))]).toEqual(['parked', { conflicts }]);
    expect(asked(on, 'PUT')).toEqual([]);
    expect(await retry(on, entry, true)).toMatchObject({ state: 'done' });
    expect(remote()).toMatchObject({ name: 'Ours', city: 'Lévis', credit: '5.00' });
  });

  test('conflicts in a field that had none before', async () => {
    const { on, id, others } = await scene({ database });
    const entry = await push(on, id, { name: 'Ours', city: 'Lévis' });
    others({ name: 'Theirs' });
    await on.work();
    others({ city: 'Alma' });
    const { result } = await retry(on, entry, true);
    expect(JSON.parse(String(result))).toMatchObject({ conflicts: [{ field: 'city', base: 'Laval' }] });
  });

  test('keeps every digit of amounts, and takes a list as one value', async () => {
    const client = { credit: '12345678901234.55', contacts: [{ nom: 'A' }] };
    const { on, id, others, remote } = await scene({ database }, client);
    const entry = await push(on, id, { credit: '12345678901234.57', contacts: [{ nom: 'C' }] });
    others(parseObject('{"credit":12345678901234.56,"contacts":[{"nom":"B"}]}'));
    await on.work();
    const { base } = await retry(on, entry, true);
    expect(base).toContain('"credit":12345678901234.56,');
    expect(JSON.stringify(remote()?.['credit'])).toMatch(/^"?12345678901234\.57"?$/);
    expect(remote()).toMatchObject({ contacts: [{ nom: 'C' }] });
  });

  test('after an update of our own since its base', async () => {
    const { on, id, others, remote } = await scene({ database });
    const first = await push(on, id, { name: 'First' });
    const entry = await push(on, id, { name: 'Ours' });
    await on.work();
    const later = await push(on, id, { name: 'Later' }, { name: 'Ada' });
    others({ name: 'Theirs' });
    await on.work();
    expect(await on.entry(later)).toMatchObject(CONFLICT);
    expect(await retry(on, later, true)).toMatchObject({ state: 'done' });
    expect(remote()).toMatchObject({ name: 'Later' });
    for (const done of [first, entry]) expect(await on.entry(done)).toMatchObject({ state: 'done' });
  });

  test('lets the entries behind it wait until it has ended', async () => {
    const { on, id, others, remote } = await scene({ database });
    const entry = await push(on, id, { name: 'Ours' });
    const behind = await push(on, id, { term: 3 });
    others({ name: 'Theirs' });
    await on.work();
    expect(await on.entry(behind)).toMatchObject({ state: 'ready', verdict: 'waits' });
    spoil(on, 'PUT', { drop: 'before' }, { times: 1 });
    expect(await retry(on, entry, true)).toMatchObject({ state: 'ready', verdict: 'no_answer' });
    expect(await on.entry(behind)).toMatchObject({ state: 'ready', verdict: 'waits' });
    await on.pass(600);
    for (const ended of [entry, behind]) expect(await on.entry(ended)).toMatchObject({ state: 'done' });
    expect(remote()).toMatchObject({ name: 'Ours', term: 3 });
  });

  test('of a record that the mirror does not have goes by the values that were shown', async () => {
    const on = await opened({ database, pulled: [] });
    const number = on.service.world.insert('clients', { code: 'Z-1', nom: 'x', name: 'Theirs' })[
      'id'
    ] as number;
    const id = String(number);
    const entry = await push(on, id, { name: 'Ours' }, { name: 'Ada' });
    await on.work();
    expect(await on.entry(entry)).toMatchObject(CONFLICT);
    expect(await retry(on, entry)).toMatchObject(CONFLICT);
    expect(await retry(on, entry, true)).toMatchObject({ state: 'done' });
  });

  test('by SQL, with a base by the names of a write', async () => {
    const on = await opened({ database, pulled: ['projects'] });
    const id = await on.firstId('projects');
    const wish = { operation: 'update', kind: 'projects', id } as const;
    const entry = await on.store({ ...wish, data: { name: 'Ours' }, base: { name: 'Before' } });
    await on.work();
    expect(await on.entry(entry)).toMatchObject(CONFLICT);
    expect(await retry(on, entry, true)).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test('is still the same change to whoever repeats it with its base and key', async () => {
    const { on, id, others } = await scene({ database });
    const request = {
      operation: 'update',
      kind: 'clients',
      id,
      key: 'k',
      data: { name: 'Ours' },
      base: { name: 'Ada' },
    };
    const repeat = async () =>
      storeChecked(on.session, await checkRequests(on.session, KINDS, [request]), on.clock.now());
    const [stored] = await repeat();
    others({ name: 'Theirs' });
    await on.work();
    await retry(on, stored?.id ?? 0, true);
    expect(await repeat()).toMatchObject([{ id: stored?.id, isNew: false, state: 'done' }]);
  });

  test('may be abandoned, so that nothing is overwritten', async () => {
    const { on, id, others, remote } = await scene({ database });
    const entry = await push(on, id, { name: 'Ours' });
    others({ name: 'Theirs' });
    await on.work();
    await abandonEntry(on.session, entry, on.clock.now());
    await on.work();
    expect(remote()).toMatchObject({ name: 'Theirs' });
  });
});
