import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { compactJson, type JsonObject } from '../../../src/lib/json/json.ts';
import type { EntryRequest } from '../../../src/outbound/intake/entry-request.ts';
import { checkRequests, storeChecked } from '../../../src/outbound/intake/intake.ts';
import { previewEntry } from '../../../src/outbound/intake/preview.ts';
import { readHistory } from '../../../src/outbound/decisions/entry-list.ts';
import { retryEntry } from '../../../src/outbound/decisions/decide.ts';
import { readNeeds } from '../../../src/needs/read-needs.ts';
import { explain } from '../../../src/words/verdicts.ts';
import { readMeta } from '../../../src/store/kinds/meta.ts';
import { DATABASES, ONE_DATABASE } from '../../pull/steps.ts';
import { asked, create, endPatience, enter, opened, spoil, type Stage } from '../stage.ts';

/** One code as people type it, paste it, and as lists show it. */
const SPELLINGS = [
  'A & É 1',
  'A & É 1 ',
  'A\t& É 1',
  'A\u00a0& É 1',
  'A &  E\u0301 1',
  'A &amp; É \u200b1',
] as const;

const pushed = async (on: Stage, ...data: readonly JsonObject[]) =>
  storeChecked(on.session, await checkRequests(on.session, KINDS, data.map(requestOf)), on.clock.now());

const requestOf = (data: JsonObject): EntryRequest => ({ operation: 'create', kind: 'clients', data });

const alters = (on: Stage) => readMeta(on.session, 'outbox.alters.clients');
const twins = (on: Stage) =>
  on.rows(sql`select record_id, detail from issues where code = 'twins' and closed_at is null`);

/** The service stores a code in a form of its own. */
function storeCodes({ service: { world } }: Stage, form: (code: string) => string): void {
  const insert = world.insert.bind(world);
  const formed = (fields: JsonObject): JsonObject => {
    const { code } = fields;
    return typeof code === 'string' ? { ...fields, code: form(code) } : fields;
  };
  Object.assign(world, { insert: (kind: string, fields: JsonObject) => insert(kind, formed(fields)) });
}

describe.each(ONE_DATABASE)('a code in another spelling, in %s,', (database) => {
  test.each(SPELLINGS)('%j is that of a record: no gate lets it pass', async (code) => {
    const on = await opened({ database });
    const id = enter(on, { code: SPELLINGS[SPELLINGS.indexOf(code) === 0 ? 1 : 0], name: 'Ada' });
    await on.pull('clients');
    await expect(pushed(on, { code, name: 'Bea' })).rejects.toMatchObject({ code: 'outbox.double' });
    const inserted = await on.store(create({ code, name: 'Bea' }));
    await on.work();
    expect(await on.entry(inserted)).toMatchObject({
      state: 'parked',
      verdict: 'existed',
      result: `{"ids":["${id}"]}`,
    });
    expect(asked(on, 'POST')).toEqual([]);
  });

  test('is sent once, however often an application inserts it, also where the answer names nothing', async () => {
    const on = await opened({ database });
    spoil(on, 'POST', { statusAfter: 201, body: '' }, { times: 1 });
    const ids: number[] = [];
    for (const code of SPELLINGS) ids.push(await on.store(create({ code, name: code })));
    for (const id of ids.toReversed()) await on.outbox.work({ id, epoch: 0 }); // Those of a lower id have no key yet.
    await on.work();
    await endPatience(on);
    expect(asked(on, 'POST')).toHaveLength(1);
    const entries = await Promise.all(ids.map((id) => on.entry(id)));
    const waiting = Array<string>(4).fill('waits'); // For the person who decides on the first of them.
    expect(entries.map(({ verdict }) => verdict).sort()).toEqual(['adopted', 'existed', ...waiting]);
  });

  test('codes that are equal as numbers are two codes', async () => {
    const on = await opened({ database });
    for (const code of ['1.10', '1E3']) enter(on, { code, name: code });
    await on.pull('clients');
    expect(await pushed(on, { code: '1.1' }, { code: '1000' })).toMatchObject([
      { isNew: true },
      { isNew: true },
    ]);
    await on.work();
    expect(asked(on, 'POST')).toHaveLength(2);
  });

  test('one that differs by case alone is sent, with a warning', async () => {
    const on = await opened({ database });
    const id = enter(on, { code: 'Ab-1', name: 'Ada' });
    await on.pull('clients');
    const [stored] = await pushed(on, { code: 'aB-1', name: 'Bea' });
    expect(stored?.notes).toEqual([
      `record ${id} of clients has the same natural key but for upper and lower case`,
    ]);
    await on.work();
    expect(await on.entry(stored?.id ?? 0)).toMatchObject({ state: 'done', verdict: 'sent' });
  });
});

describe.each(ONE_DATABASE)('a key that an answer shows, in %s,', (database) => {
  test('is not altered by the blanks that the service takes away', async () => {
    const on = await opened({ database });
    storeCodes(on, (code) => code.trim());
    const id = await on.store(create({ code: 'ZZ-1 ', name: 'Zoé' }));
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'altered' });
    expect(await alters(on)).toBeNull();
  });

  test('opens the issue `twins` at once where a live record has it', async () => {
    const on = await opened({ database });
    const old = enter(on, { code: 'ZZ-1', name: 'Ada' });
    await on.pull('clients');
    storeCodes(on, () => 'ZZ-1');
    const id = await on.store(create({ code: 'ZZ-1234', name: 'Zoé' }));
    await on.work();
    const { recordId } = await on.entry(id);
    expect(await twins(on)).toEqual([{ record_id: recordId, detail: JSON.stringify([old]) }]);
    expect(await alters(on)).not.toBeNull();
  });

  test('opens none where a second record was wanted', async () => {
    const on = await opened({ database });
    enter(on, { code: 'ZZ-1', name: 'Ada' });
    await on.pull('clients');
    await on.store({ ...create(), allowDouble: true });
    await on.work();
    await on.pull('clients');
    expect(await twins(on)).toEqual([]);
  });
});

describe.each(ONE_DATABASE)('a create that was made, and not named, in %s,', (database) => {
  test('shows by the only newcomer that the service alters keys: no other one is sent again', async () => {
    const on = await opened({ database });
    storeCodes(on, (code) => `CL-${code.slice(3)}`);
    spoil(on, 'POST', { statusAfter: 201, body: '' }, { times: 1 });
    await on.store(create({ code: 'ZZ-1', name: 'Zoé' }));
    await on.work();
    await on.pass(300);
    expect(await alters(on)).not.toBeNull();
    spoil(on, 'POST', { drop: 'after' }, { times: 1 });
    const lost = await on.store(create({ code: 'ZZ-2', name: '' }));
    await on.work();
    await endPatience(on);
    expect(await on.entry(lost)).toMatchObject({ state: 'parked', attempts: 1 });
  });

  test('shows nothing of that by a newcomer with its key, or by two', async () => {
    const on = await opened({ database });
    spoil(on, 'POST', { statusAfter: 201, body: '' }, { times: 1 });
    await on.store(create({ code: 'ZZ-1 ', name: 'Zoé' }));
    enter(on, { code: 'S-1', name: 'Somebody else' });
    await on.work();
    await on.pass(300);
    expect(await alters(on)).toBeNull();
  });
});

test('a preview has the notes of the push: a record whose code differs by case alone', async () => {
  const on = await opened();
  enter(on, { code: 'zz-1', name: 'Ada' });
  await on.pull('clients');
  const [entry] = await checkRequests(on.session, KINDS, [requestOf({ code: 'ZZ-1', name: 'Zoé' })]);
  const preview = entry && (await previewEntry(on.session, entry));
  const [stored] = await storeChecked(on.session, entry ? [entry] : [], on.clock.now());
  expect(preview?.notes).toEqual([expect.stringContaining('but for upper and lower case')]);
  expect(preview?.notes).toEqual(stored?.notes);
});

test('a preview names the record whose code is spelled otherwise, and none that differs by case', async () => {
  const on = await opened();
  const id = enter(on, { code: SPELLINGS[0], name: 'Ada' });
  enter(on, { code: SPELLINGS[0].toLowerCase(), name: 'Ada' });
  await on.pull('clients');
  const [entry] = await checkRequests(on.session, KINDS, [requestOf({ code: SPELLINGS[3], name: 'Ada' })]);
  expect(entry && (await previewEntry(on.session, entry))).toMatchObject({
    alike: [{ recordId: id, match: 'exact' }],
  });
});

const BY_CASE = 'creates a record with the same natural key but for upper and lower case';

test('a push that differs by case from an open create, or from another of its requests, has a note', async () => {
  const on = await opened();
  const [first] = await pushed(on, { code: 'zé-1', name: 'Ada' });
  const later = [
    { code: 'ZÉ-1', name: 'Zoé' },
    { code: 'b-2', name: 'Bo' },
    { code: 'B-2', name: 'Bob' },
  ];
  const [checked] = await checkRequests(on.session, KINDS, later.map(requestOf));
  const note = `entry ${first?.id} ${BY_CASE}`;
  expect(checked && (await previewEntry(on.session, checked)).notes).toEqual([note]);
  const stored = await pushed(on, ...later);
  expect(stored.map(({ notes }) => notes)).toEqual([[note], [], [`Another of these requests ${BY_CASE}`]]);
  await on.work();
  expect(asked(on, 'POST')).toHaveLength(4);
  expect((await pushed(on, { code: 'B-3' }, { code: 'zé-9' })).map(({ notes }) => notes)).toEqual([[], []]);
});

test('a project is known by its name where lists show that as a write does', async () => {
  const on = await opened({ service: { size: 12 }, pulled: [] });
  const { world } = on.service;
  const there = compactJson(
    world.insert('projects', { nom: 'Maison Roy', name: 'Maison Roy' })['id'] ?? null,
  );
  spoil(on, 'GET', { leavesOut: ['nom'] }, { kind: 'projects' });
  await on.pull('projects');
  const id = await on.send(create({ name: ' Maison  Roy' }, 'projects'));
  expect(await on.entry(id)).toMatchObject({ verdict: 'existed', result: JSON.stringify({ ids: [there] }) });
  expect(await on.entry(await on.send(create({ name: 'Autre' }, 'projects')))).toMatchObject({
    state: 'done',
  });
});

describe.each(DATABASES)('a create, in %s,', (database) => {
  test.each<[string, JsonObject]>([
    ['has its key', { code: 'zz-1'.toUpperCase(), name: 'Ada' }],
    ['may have its key', { name: 'é'.repeat(3000) }],
  ])('is parked where a listed record that cannot become a row %s', async (_what, record) => {
    const on = await opened({ database, service: { size: 12 }, pulled: [] });
    enter(on, { id: 2.5, ...record });
    await on.pull('clients');
    const id = await on.send(create());
    expect(await on.entry(id)).toMatchObject({ verdict: 'existed', result: '{"ids":["2.5"]}' });
    const { entry, candidates } = await readHistory(on.parts, id);
    expect([entry.verdict, candidates]).toEqual(['existed', []]);
    expect(explain(entry).next[0]).toMatch(/adopt 1 RECORD$/);
    const retried = (allowDouble: boolean) =>
      retryEntry(on.session, on.parts.kinds, { id, allowDouble }, on.clock.now());
    await expect(retried(false)).rejects.toMatchObject({ code: 'outbox.double' });
    await retried(true);
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test('is sent beside a record that cannot become a row and has another key', async () => {
    const on = await opened({ database, service: { size: 12 }, pulled: [] });
    enter(on, { id: 2.5, code: 'ZZ-2', name: 'Ada' });
    await on.pull('clients');
    expect(await on.entry(await on.send(create()))).toMatchObject({ state: 'done' });
  });
});

describe.each(ONE_DATABASE)('a list that does not show the natural key, in %s,', (database) => {
  const hideCodes = (on: Stage): void => spoil(on, 'GET', { leavesOut: ['code'] });

  test.each([
    ['from the start', true],
    ['since a release', false],
  ])('lets its creates wait: %s', async (_what, isFirst) => {
    const on = await opened({ database, service: { size: 12 }, pulled: [] });
    const there = enter(on, { code: 'ZZ-1', name: 'Zoé Tremblay' });
    if (!isFirst) await on.pull('clients');
    hideCodes(on);
    await on.pull('clients');
    const id = await on.send(create({ code: 'ZZ-1', name: 'Zoe T.' }));
    const waiting = await on.entry(id);
    expect(waiting).toMatchObject({ state: 'ready', verdict: 'field_not_shown', attempts: 0 });
    expect(explain(waiting).next.join()).toMatch(
      /abandon 1, then bms-sync push create clients … --allow-double$/,
    );
    expect(await readNeeds(on.session, [])).toMatchObject([
      { type: 'field.not_shown', facts: { fields: 'clients.code', entries: 1 } },
    ]);
    const wanted = await on.send({ ...create({ code: 'ZZ-3', name: 'Bea' }), allowDouble: true });
    expect(await on.entry(wanted)).toMatchObject({ state: 'done' });
    on.service.setFaults([]);
    const other = await on.store(create({ code: 'ZZ-2', name: 'Ada' }));
    await on.pass(3600);
    expect(await on.entry(id)).toMatchObject({
      verdict: 'existed',
      result: JSON.stringify({ ids: [there] }),
    });
    expect(await on.entry(other)).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test('sends one without a natural key if it shows a part of what that has', async () => {
    const on = await opened({ database, service: { size: 3 }, pulled: [] });
    spoil(on, 'GET', { leavesOut: ['code', 'fax'] });
    await on.pull('clients');
    const [part, none] = [
      await on.send(create({ name: 'Ada', fax: '44' })),
      await on.send(create({ fax: '45' })),
    ];
    expect(await on.entry(part)).toMatchObject({ state: 'done' });
    expect(await on.entry(none)).toMatchObject({ state: 'ready', verdict: 'field_not_shown' });
  });

  test('and has no rows keeps no create back', async () => {
    const on = await opened({ database, service: { size: 3 }, pulled: [] });
    for (const id of on.service.world.ids('clients')) on.service.world.remove('clients', id);
    await on.pull('clients');
    expect(await on.entry(await on.send(create()))).toMatchObject({ state: 'done', verdict: 'sent' });
  });
});
