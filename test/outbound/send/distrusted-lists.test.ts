import { needsOfFeatures } from '../../../src/features.ts';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { readStatusReport } from '../../../src/checks/status.ts';
import { MAX_DEPTH, compactJson, parseJson, type JsonObject } from '../../../src/lib/json/json.ts';
import type { SettlementNotes } from '../../../src/store/outbox/settlement.ts';
import { explain } from '../../../src/words/verdicts.ts';
import { retryEntry } from '../../../src/outbound/decisions/decide.ts';
import { ZOE, asked, create, opened, spoil, zoes, type Opening, type Stage } from '../stage.ts';

const DAY = 86_400;
const PATIENCE = [300, 3300, 18_000, 21_600, 43_200];

/** Lets lists show only these records; `alone`: who asks for another by its id does not get it either. Returns how to end that. */
function showOnly(
  { service: { world } }: Stage,
  kind: string,
  isShown: (id: number, place: number) => boolean,
  reach: 'lists' | 'alone' = 'alone',
): () => void {
  const before = { ...world };
  const shown = (name: string): number[] =>
    name === kind ? before.ids(name).filter((id, place) => isShown(id, place)) : [...before.ids(name)];
  Object.assign(world, {
    count: (name: string) => shown(name).length,
    slice: (name: string, start: number, end: number) => shown(name).slice(start, end),
    ...(reach === 'alone' && {
      get: (name: string, id: number) => (shown(name).includes(id) ? before.get(name, id) : undefined),
    }),
  });
  return () => {
    Object.assign(world, before);
  };
}

/** A create whose answer is lost; with a sweep of its kind before it. */
async function lose(
  on: Stage,
  {
    arrives = true,
    kind = 'clients',
    data = ZOE,
    ...more
  }: { arrives?: boolean; kind?: string; data?: object; allowDouble?: true } = {},
): Promise<number> {
  spoil(on, 'POST', { drop: arrives ? 'after' : 'before' }, { kind, times: 1 });
  const id = await on.send({ ...create({ ...data }, kind), ...more });
  expect(await on.entry(id)).toMatchObject({ state: 'unsettled' });
  return id;
}

/** Lets patience end, and sweeps go on as schedules have them. */
async function outlast(on: Stage, days = 1, kind = 'clients'): Promise<void> {
  for (const seconds of PATIENCE) await on.pass(seconds);
  for (let passed = 1; passed < days; passed += 0.25) {
    await on.pull(kind);
    await on.pass(DAY / 4);
  }
}

/** Whether a list of several pages shows a record after a right has gone. */
const everyOther = (on: Stage): ((id: number) => boolean) => {
  const left = new Set(on.service.world.ids('clients').filter((_id, place) => place % 2 === 0));
  return (id) => left.has(id);
};

const PUNCH = { user_id: 5, date: '2026-01-05', start_time: '08:00', end_time: '17:00' };
const LATER = { ...PUNCH, date: '2026-01-06' };

const notesOf = async (on: Stage, id: number): Promise<SettlementNotes> => (await on.entry(id)).settlement;

describe('a create whose answer was lost', () => {
  const start = (opening: Opening = {}): Promise<Stage> => opened({ ...opening });

  test('is not sent again while the token may see half of the records, and parked in the end', async () => {
    const on = await start();
    const half = everyOther(on);
    const id = await lose(on);
    showOnly(on, 'clients', half);
    await outlast(on, 2.5);
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', attempts: 1 });
    expect(await notesOf(on, id)).toMatchObject({
      awaits: { why: 'some rows that the list lacks are still in the mirror' },
    });
    await outlast(on, 2);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'no_certificate', attempts: 1 });
    expect(asked(on, 'POST')).toHaveLength(1);
  });

  test('is not sent again while the lists of a kind without single records hide what we created', async () => {
    const on = await start({ pulled: ['punches'] });
    const known = new Set(on.service.world.ids('punches'));
    expect(await on.entry(await on.send(create(PUNCH, 'punches')))).toMatchObject({ state: 'done' });
    showOnly(on, 'punches', (one) => known.has(one));
    const id = await lose(on, { kind: 'punches', data: LATER });
    await outlast(on, 2, 'punches');
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', attempts: 1 });
    await outlast(on, 3, 'punches');
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'no_certificate' });
    expect(asked(on, 'POST')).toHaveLength(2);
  });
});

describe('a record that cannot become a row', () => {
  const deep = parseJson('['.repeat(MAX_DEPTH + 2) + ']'.repeat(MAX_DEPTH + 2));

  test.each<[string, (id: number) => string, (id: number) => JsonObject]>([
    ['nested too deep', String, (id) => ({ id, deep })],
    ['with an id of letters', () => 'A-7', () => ({ id: 'A-7' })],
    ['without an id', () => 'no_id', () => ({ id: null })],
  ])(
    'bars every certificate, so the create is parked at the end of patience: %s',
    async (_what, nameOf, form) => {
      const on = await opened({ pulled: [] });
      const { world } = on.service;
      const get = world.get.bind(world);
      const odd = Number(world.insert('clients', { code: 'A-1', name: 'Abel' })['id']);
      Object.assign(world, {
        get: (kind: string, id: number) => (id === odd ? form(odd) : get(kind, id)),
      });
      await on.pull('clients');
      const id = await lose(on, { arrives: false, allowDouble: true }); // It may have the key of the create.
      for (const seconds of [300, 3300, 18_000, 21_600]) await on.pass(seconds);
      expect(await on.entry(id)).toMatchObject({ state: 'unsettled' });
      const outlook = { schedules: [], now: new Date(), needsOfFeatures, plans: { approvals: 0 } };
      const { uncertified } = await readStatusReport(on.session, KINDS, outlook);
      expect(uncertified.map(({ next }) => next)).toEqual([
        expect.stringMatching(
          new RegExp(`certificate: ${nameOf(odd)}\\. .*unknown outcome \\(1\\) stay unsettled`),
        ),
      ]);
      await on.pass(43_200);
      expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'no_certificate', attempts: 1 });
      expect(await notesOf(on, id)).toMatchObject({ barring: [nameOf(odd)] });
      expect(explain(await on.entry(id)).meaning).toContain(`The records in question: ${nameOf(odd)}.`);
    },
  );
});

describe('a create whose answer was lost', () => {
  test('is found once rights come back after two days', async () => {
    const on = await opened();
    const half = everyOther(on);
    const id = await lose(on);
    const regain = showOnly(on, 'clients', half);
    await outlast(on, 2);
    regain();
    await outlast(on, 1);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted', attempts: 1 });
    expect(zoes(on)).toBe(1);
  });

  test('and that did not arrive is sent again once rights come back', async () => {
    const on = await opened();
    const id = await lose(on, { arrives: false });
    const regain = showOnly(on, 'clients', everyOther(on));
    await outlast(on, 2);
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', attempts: 1 });
    regain();
    await outlast(on, 1);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'resent', attempts: 2 });
  });

  test('is not sent again while maintenance answers empty lists', async () => {
    const on = await opened();
    const id = await lose(on);
    const end = showOnly(on, 'clients', () => false);
    await outlast(on, 2);
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', attempts: 1 });
    end();
    await outlast(on, 1);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted' });
    expect(zoes(on)).toBe(1);
  });

  test('is not sent again while an empty list is all that was ever seen of its kind', async () => {
    const on = await opened({ pulled: [] });
    showOnly(on, 'clients', () => false);
    await on.pull('clients');
    const id = await lose(on);
    await outlast(on, 4);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'no_certificate', attempts: 1 });
    await retryEntry(on.session, on.parts.kinds, { id }, on.clock.now());
    await on.work();
    expect((await on.entry(id)).attempts).toBe(2); // A person knows that it is a new company.
  });

  test.each<[string, 'shows nothing' | 'alters all']>([
    ['is not shown', 'shows nothing'],
    ['is shown as nothing that was sent', 'alters all'],
  ])('is not sent again while what an answer proves made, and does not name, %s', async (_what, list) => {
    const on = await opened();
    const { world } = on.service;
    const known = new Set(world.ids('clients'));
    const insert = world.insert.bind(world);
    if (list === 'alters all')
      Object.assign(world, {
        insert: (kind: string) => insert(kind, { code: `N-${world.ids('clients').length}`, name: '' }),
      });
    const id = await lose(on);
    spoil(on, 'POST', { statusAfter: 201, body: '' }, { times: 1 });
    const made = await on.send(create({ code: 'ZZ-0', name: 'Abel' }));
    expect(await on.grades(made)).toEqual(['made']);
    const approve = list === 'alters all' ? null : showOnly(on, 'clients', (one) => known.has(one), 'alone');
    await outlast(on, 2);
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', attempts: 1 });
    expect(await notesOf(on, id)).toMatchObject({
      awaits: { why: 'no list shows records that bms-sync has created' },
    });
    approve?.();
    await outlast(on, 3);
    const end = approve
      ? { state: 'done', verdict: 'adopted' }
      : { state: 'parked', verdict: 'no_certificate' };
    expect(await on.entry(id)).toMatchObject({ ...end, attempts: 1 });
    expect(asked(on, 'POST')).toHaveLength(2);
  });

  test.each(['lists', 'alone'] as const)(
    'is not sent again where creates wait for an approval: %s',
    async (reach) => {
      const on = await opened();
      const known = new Set(on.service.world.ids('clients'));
      const first = await on.send(create({ code: 'ZZ-0', name: 'Abel' }));
      const id = await lose(on);
      const approve = showOnly(on, 'clients', (one) => known.has(one), reach);
      await outlast(on, 2);
      expect(await on.entry(first)).toMatchObject({ state: 'done' });
      expect(await on.entry(id)).toMatchObject({ state: 'unsettled', attempts: 1 });
      approve();
      await outlast(on, 1);
      expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted' });
      expect(zoes(on)).toBe(1);
    },
  );

  test('is not sent again where an earlier one was named by its id alone, and no list ever shows it', async () => {
    const on = await opened({ pulled: ['punches'] });
    const known = new Set(on.service.world.ids('punches'));
    on.service.setFaults([
      { on: { kind: 'punches', method: 'POST' }, times: 1, do: { status: 201, body: '{"id":987654321}' } },
    ]);
    expect(await on.entry(await on.send(create(PUNCH, 'punches')))).toMatchObject({
      state: 'done',
      recordId: '987654321',
    });
    showOnly(on, 'punches', (one) => known.has(one));
    const id = await lose(on, { kind: 'punches', data: LATER });
    await outlast(on, 4, 'punches');
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'no_certificate', attempts: 1 });
    expect(await notesOf(on, id)).toMatchObject({
      awaits: {
        records: ['987654321'],
        why: 'the service returned records that its list does not show yet',
      },
    });
  });

  test('leaves the record of an earlier one alone that got the id of a deleted one, and that no list shows', async () => {
    const on = await opened();
    const { world } = on.service;
    const reused = Number(await on.firstId('clients'));
    world.remove('clients', reused);
    for (let times = 0; times < 3; times++) {
      await on.pull('clients');
      await on.pass(1000);
    }
    const known = new Set(world.ids('clients'));
    const insert = world.insert.bind(world);
    Object.assign(world, {
      insert: (kind: string, data: JsonObject) => insert(kind, { ...data, id: reused }),
    });
    expect(await on.entry(await on.send(create()))).toMatchObject({
      state: 'done',
      recordId: String(reused),
    });
    showOnly(on, 'clients', (one) => known.has(one));
    for (let times = 0; times < 4; times++) {
      await on.pass(1000);
      await on.pull('clients');
    }
    const [row] = await on.rows(sql`select _deleted_at from clients where id = ${reused}`);
    expect(row).toEqual({ _deleted_at: null });
  });

  test('is not sent again where the list is the first sixty rows by code', async () => {
    const on = await opened({ pulled: [], service: { size: 60 } });
    showOnly(on, 'clients', (_one, place) => place < 60, 'lists'); // The sandbox lists by code.
    await on.pull('clients');
    expect(await on.entry(await on.send(create({ code: 'ZZ-0', name: 'Abel' })))).toMatchObject({
      state: 'done',
    });
    const id = await lose(on);
    await outlast(on, 4);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'no_certificate', attempts: 1 });
    expect(asked(on, 'POST')).toHaveLength(2);
  });

  test.each([
    [120, 'parked'],
    [119, 'done'],
  ])('is sent again where a 404 ends the list, but not behind a full page: %i rows', async (rows, state) => {
    const on = await opened({ pulled: [] });
    const { world } = on.service;
    const listed = world.slice('punches', 0, rows).map((one) => world.get('punches', one) ?? {});
    const pages = Array.from({ length: 6 }, (_none, at) => listed.slice(at * 20, at * 20 + 20));
    const bodies = pages.map((data) => ({ status: 200, body: compactJson({ data, success: true }) }));
    const answers = [...bodies, { status: 404, body: '{"message":"Page not found"}' }];
    const list = answers.map((answer, at) => ({
      on: { kind: 'punches', method: 'GET', page: at + 1 },
      do: answer,
    }));
    on.service.setFaults([...list, { on: { method: 'POST' }, times: 1, do: { drop: 'before' } }]);
    for (let times = 0; times < 2; times++) await on.pull('punches');
    const id = await on.send(create(PUNCH, 'punches'));
    await outlast(on, 4, 'punches');
    expect(await on.entry(id)).toMatchObject({ state, attempts: state === 'done' ? 2 : 1 });
    const reason = state === 'done' ? null : 'cut_off';
    const reports = await on.rows(sql`select state, reason from run_kinds`);
    expect(reports[1]).toEqual({ state: 'certified', reason });
  });

  test('is sent again where what we created is listed, however late a list showed it', async () => {
    const on = await opened();
    const first = await on.send(create({ code: 'ZZ-0', name: 'Abel' }));
    const id = await lose(on, { arrives: false });
    await outlast(on, 1);
    expect(await on.entry(first)).toMatchObject({ state: 'done' });
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'resent', attempts: 2 });
  });

  test('waits while the latest sweep distrusts the list, although one since patience was certified', async () => {
    const on = await opened();
    const id = await lose(on, { arrives: false });
    for (const seconds of [300, 3300, 18_000, 21_600]) await on.pass(seconds);
    await on.clock.sleep(43_200_000);
    for (const due of await on.outbox.due(10)) await on.outbox.work(due); // It asks for a sweep.
    const loses = everyOther(on);
    await on.pull('clients');
    showOnly(on, 'clients', loses);
    await on.pull('clients');
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', attempts: 1 });
  });
});

test.each([
  [DAY, 3 * DAY],
  [7, 21],
])('with a patience of %i seconds it is parked after %i seconds at the latest', async (patience, end) => {
  const rules = { settleSeconds: 1, patienceSeconds: patience };
  const on = await opened({ rules });
  const half = everyOther(on);
  const id = await lose(on);
  showOnly(on, 'clients', half);
  const steps = patience > 60 ? 24 : 1;
  for (let passed = 0; passed < 3 * steps - 1; passed++) await on.pass(Math.floor(patience / steps));
  expect(await on.entry(id)).toMatchObject({ state: 'unsettled' });
  await on.pass(Math.ceil(end / (3 * steps)) + 1);
  await on.pass(60);
  await on.pass(60);
  expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'no_certificate', attempts: 1 });
});
