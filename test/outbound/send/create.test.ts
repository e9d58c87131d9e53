import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { FaultAction } from '../../../sandbox/faults.ts';
import { findKind } from '../../../src/catalog/find-kind.ts';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { readRecordStory } from '../../../src/store/records/record-story.ts';
import { ZOE, asked, create, opened, spoil, zoes, type Stage } from '../stage.ts';

/** Stores a create and works it while POSTs go wrong. */
async function sendUnder(on: Stage, action: FaultAction, times?: number): Promise<number> {
  spoil(on, 'POST', action, times === undefined ? {} : { times });
  const id = await on.send(create());
  return id;
}

const PUNCH = { user_id: 5, date: '2026-01-05', start_time: '08:07', end_time: '17:00' };
const answering = (body: object, status = 200): FaultAction => ({ status, body: JSON.stringify(body) });

describe('a create', () => {
  test('is sent once, linked, and in the mirror at once with one event of its own', async () => {
    const on = await opened();
    const before = on.service.world.count('clients');
    const id = await on.send(create());
    const entry = await on.entry(id);
    expect(entry).toMatchObject({
      state: 'done',
      verdict: 'sent',
      attempts: 1,
      owner: null,
      nextAttemptAt: null,
    });
    expect(on.service.world.count('clients')).toBe(before + 1);
    expect(await on.rows(sql`select kind, record_id, outbox_id from links`)).toEqual([
      { kind: 'clients', record_id: entry.recordId, outbox_id: id },
    ]);
    const events = [`${entry.recordId ?? ''} created outbox:${id}`];
    expect(await on.events()).toEqual(events);
    await on.pull('clients');
    await on.pull('clients');
    expect(await on.events()).toEqual(events);
  });

  test('whose answer is lost is found by a sweep and adopted', async () => {
    const on = await opened();
    const id = await sendUnder(on, { drop: 'after' });
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', verdict: 'ambiguous', attempts: 1 });
    await on.pass(300);
    const { recordId, ...entry } = await on.entry(id);
    expect(entry).toMatchObject({ state: 'done', verdict: 'adopted', attempts: 1 });
    expect(zoes(on)).toBe(1);
    const story = await readRecordStory(on.session, findKind(KINDS, 'clients'), recordId ?? '');
    expect(story?.events).toMatchObject([{ change: 'created', origin: `outbox:${id}` }]);
    expect(await on.events()).toEqual([`${recordId ?? ''} created service`]); // As it was written.
  });

  test('that never arrived is sent again once patience has ended, and not before', async () => {
    const on = await opened();
    const id = await sendUnder(on, { drop: 'before' }, 1);
    for (const seconds of [300, 3300, 18_000, 21_600, 43_000]) {
      await on.pass(seconds);
      expect(await on.entry(id)).toMatchObject({ state: 'unsettled', attempts: 1 });
    }
    await on.pass(1_000);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'resent', attempts: 2 });
    expect(zoes(on)).toBe(1);
  });

  test('is journalled with its whole request before it leaves', async () => {
    const on = await opened();
    let journalled: unknown;
    const write: Stage['parts']['source']['write'] = async (request, options) => {
      journalled = await on.rows(sql`select n, closed_at, grade, request from outbox_attempts`);
      return source.write(request, options);
    };
    const { source } = on.parts;
    Object.assign(on.parts, { source: { ...source, write } });
    await on.send(create());
    const request = 'POST /api/clients\n{"code":"ZZ-1","name":"Zoé"}';
    expect(journalled).toEqual([{ n: 1, closed_at: null, grade: null, request }]);
  });
});

describe('an outcome', () => {
  test.each<[string, FaultAction, string, string, string]>([
    ['D01: the connection closes unanswered', { drop: 'after' }, 'unsettled', 'ambiguous', 'ambiguous'],
    ['D02: 500', { status: 500 }, 'unsettled', 'ambiguous', 'ambiguous'],
    ['D04: a body that is cut', { truncate: 12 }, 'unsettled', 'ambiguous', 'ambiguous'],
    ['a success without an id', answering({ message: 'ok' }), 'unsettled', 'ambiguous', 'ambiguous'],
    ['422', { status: 422 }, 'rejected', 'service_refused', 'rejected'],
    ['403', { refuse: true }, 'ready', 'kind_blocked', 'refused'],
    ['429', { status: 429 }, 'ready', 'busy', 'busy'],
  ])('%s: %o → %s, %s', async (_what, action, state, verdict, grade) => {
    const on = await opened();
    const id = await sendUnder(on, action);
    expect(await on.entry(id)).toMatchObject({ state, verdict, attempts: 1, owner: null });
    expect(await on.grades(id)).toEqual([grade]);
    expect(asked(on, 'POST')).toHaveLength(1);
  });

  test('a service that cannot be reached has certainly not got it: it goes again by itself', async () => {
    const on = await opened();
    const { source } = on.parts;
    let tries = 0;
    const write: typeof source.write = (request) =>
      ++tries < 3 ? Promise.resolve({ is: 'unsent', why: 'ECONNREFUSED' }) : source.write(request);
    Object.assign(on.parts, { source: { ...source, write } });
    const id = await on.send(create());
    expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'unreachable' });
    await on.pass(60);
    await on.pass(60);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent', attempts: 3 });
    expect(await on.grades(id)).toEqual(['unsent', 'unsent', 'done']);
  });

  test.each([120, 3])(
    'a wait of %d s that the service asks for is kept, and not added to',
    async (seconds) => {
      const on = await opened();
      const id = await sendUnder(on, { status: 429, retryAfter: String(seconds) });
      await on.pass(seconds - 1);
      expect(asked(on, 'POST')).toHaveLength(1);
      on.service.setFaults([]);
      await on.pass(1);
      expect(await on.entry(id)).toMatchObject({ state: 'done', attempts: 2 });
    },
  );

  test("a refusal keeps the service's own words", async () => {
    const on = await opened();
    const id = await sendUnder(on, answering({ success: false, message: 'Code is taken.' }, 422));
    const { result } = await on.entry(id);
    expect(JSON.parse(result ?? '')).toEqual({ status: 422, answer: 'Code is taken.' });
  });
});

describe('an answer', () => {
  test('in the envelopes of the live service is understood as well', async () => {
    const on = await opened({ service: { envelopes: 'wild' } });
    expect(await on.entry(await on.send(create()))).toMatchObject({ state: 'done', verdict: 'sent' });
  });

  test.each([
    ['rounded', 'punches', PUNCH, { ...PUNCH, start_time: '08:15:00' }, ['start_time']],
    ['numbered', 'clients', ZOE, { ...ZOE, code: '0001-ZZ-1' }, ['code']],
    ['cut and prefixed', 'clients', ZOE, { code: 'ZZ', name: 'M. Zoé' }, ['code', 'name']],
  ])(
    'with a new id is the record, in whatever form it shows it: %s',
    async (_what, kind, data, shown, altered) => {
      const on = await opened({ pulled: [kind] });
      spoil(on, 'POST', answering({ id: 987_654, ...shown }, 201), { kind });
      const id = await on.send(create(data, kind));
      const entry = await on.entry(id);
      expect(entry).toMatchObject({ state: 'done', verdict: 'altered', recordId: '987654', attempts: 1 });
      const result = JSON.parse(entry.result ?? '') as { altered: { field: string }[] };
      expect(result.altered.map(({ field }) => field)).toEqual(altered);
      expect(await on.rows(sql`select record_id, outbox_id from links`)).toEqual([
        { record_id: '987654', outbox_id: id },
      ]);
      for (let day = 0; day < 4; day++) await on.pass(86_400);
      expect(asked(on, 'POST')).toHaveLength(1);
      expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'altered' });
    },
  );

  test('with a record that was there before is parked: nobody may take it for new', async () => {
    const on = await opened();
    const old = Number(await on.firstId('clients'));
    const id = await sendUnder(on, answering({ ...on.service.world.get('clients', old), ...ZOE }, 200));
    const entry = await on.entry(id);
    expect(entry).toMatchObject({ state: 'parked', verdict: 'existed', recordId: null });
    expect(JSON.parse(entry.result ?? '')).toEqual({ ids: [String(old)] });
    expect(await on.rows(sql`select * from links`)).toEqual([]);
  });

  test('that shows only the id is completed by asking for the record', async () => {
    const on = await opened();
    const next = Math.max(...on.service.world.ids('clients')) + 1;
    const stored = on.service.world.insert('clients', { ...ZOE, id: next + 50 });
    const id = await sendUnder(on, answering({ id: stored['id'] ?? 0 }, 201), 1);
    const entry = await on.entry(id);
    expect(entry).toMatchObject({ state: 'done', verdict: 'sent', recordId: String(next + 50) });
    const [row] = await on.rows(sql`select code from clients where id = ${next + 50}`);
    expect(row).toEqual({ code: 'ZZ-1' });
    expect(asked(on, 'GET').at(-1)).toBe(`/api/clients/${next + 50}`);
  });

  test('that shows only the id of a record that cannot be asked for is believed; its list will show it', async () => {
    const on = await opened();
    on.service.setFaults([
      { on: { kind: 'clients', method: 'POST' }, do: answering({ id: 987_654 }, 201) },
      { on: { kind: 'clients', method: 'GET' }, do: { status: 404, body: '<html>' } },
    ]);
    expect(await on.entry(await on.send(create()))).toMatchObject({ state: 'done', recordId: '987654' });
    expect(await on.events()).toEqual([]);
  });

  test('D12: with a record that another entry has made is parked', async () => {
    const on = await opened();
    const first = await on.send(create());
    const { recordId } = await on.entry(first);
    const record = on.service.world.get('clients', Number(recordId));
    spoil(on, 'POST', answering({ ...record, code: 'ZZ-2', name: 'B' }));
    const second = await on.send(create({ code: 'ZZ-2', name: 'B' }));
    expect(await on.entry(second)).toMatchObject({ state: 'parked', recordId: null });
    expect((await on.entry(second)).verdict).toMatch(/^(twins|existed)$/);
    expect(await on.rows(sql`select outbox_id from links`)).toEqual([{ outbox_id: first }]);
  });

  test('that repeats the token leaves it nowhere', async () => {
    const on = await opened();
    const { token } = on.service;
    for (const status of [200, 422, 500, 403]) {
      spoil(on, 'POST', answering({ message: `bad token ${token}`, token }, status));
      const id = await on.send(create({ code: `ZZ-${status}`, name: 'T' }));
      expect(JSON.stringify(await on.entry(id))).not.toContain(token);
    }
    expect(JSON.stringify(await on.rows(sql`select * from outbox_attempts`))).not.toContain(token);
  });
});

test('G/D10: a process that was stopped after the journal sends nothing', async () => {
  const on = await opened();
  const { sendCounter } = on.parts;
  Object.assign(on.parts, {
    sendCounter: { ...sendCounter, write: () => on.clock.sleep(2_001) }, // As long as others may take it for dead.
  });
  const id = await on.send(create());
  expect(asked(on, 'POST')).toEqual([]);
  expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'unreachable' });
  expect(await on.grades(id)).toEqual(['unsent']);
});

test('G/D10: a process that was stopped while it waited for its connection sends nothing', async () => {
  const on = await opened();
  const { source } = on.parts;
  Object.assign(on.parts, {
    source: {
      ...source,
      write: async (...[request, options]: Parameters<typeof source.write>) => {
        await on.clock.sleep(20_001);
        return source.write(request, options);
      },
    },
  });
  const id = await on.send(create());
  expect(asked(on, 'POST')).toEqual([]);
  expect(await on.entry(id)).toMatchObject({ state: 'ready', verdict: 'unreachable' });
});

test('every send is counted, in the database and beside it', async () => {
  const on = await opened();
  await on.store(create());
  await on.send(create({ code: 'ZZ-2', name: 'B' }));
  expect(on.mark.sends).toBe(2);
  expect(await on.rows(sql`select value from mirror_meta where key = 'outbox.sends'`)).toEqual([
    { value: '2' },
  ]);
});
