import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { saveBlock } from '../../src/store/outbox/outbox-queue.ts';
import { saveAbsences } from '../../src/store/records/deletion-store.ts';
import { changeEntry, findEntry } from '../../src/store/outbox/outbox-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import { deleteMeta, writeMeta } from '../../src/store/kinds/meta.ts';
import { saveHeartbeat } from '../../src/store/runs/worker-store.ts';
import { freeze } from '../../src/store/outbox/freeze-store.ts';
import { VERDICTS } from '../../src/words/verdicts.ts';
import { ONE_DATABASE } from '../store/databases.ts';
import { NOON, NOON_JSON, NOON_TEXT, putRecords } from '../store/temp-mirror.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { jsonOf, serveMirror, type Stage } from '../http/stage.ts';

const KEY = { 'idempotency-key': 'ada' };
const ADA = '{"operation":"create","kind":"clients","data":{"code":"C-1","name":"Ada"}}';

async function queued(stage: Stage): Promise<void> {
  expect((await stage.post('/v1/outbox', ADA, KEY)).status).toBe(202);
}

async function become(session: Session, state: 'parked' | 'done' | 'unsettled'): Promise<void> {
  const epoch = (await findEntry(session, 1))?.epoch ?? 0;
  await session.atomically((tx) => changeEntry(tx, { id: 1, epoch, patch: { state }, now: NOON }));
}

describe.each(ONE_DATABASE)('over a mirror in %s', (_name, open) => {
  test('a record comes as the service sent it, to the digit', async () => {
    const session = await open();
    const raw = '{"id":9007199254740993,"credit":123456789012345.6789,"b":1.10,"a":-0.0,"note":"</script>"}';
    await session.atomically((tx) =>
      putRecords(tx, 'clients', [{ id: '9007199254740993', _raw: raw, _deleted_at: NOON_TEXT }]),
    );
    const stage = await serveMirror(session);
    const answer = await stage.get('/v1/records/clients/9007199254740993');
    expect(await answer.text()).toBe(
      `{"kind":"clients","id":"9007199254740993","deletedAt":"${NOON_JSON}","changedAt":"${NOON_JSON}","record":${raw}}`,
    );
    for (const [path, status] of [
      ['clients/1', 404],
      ['nothing/1', 404],
      ['mirror_meta/1', 404],
      ['clients/9223372036854775807', 404],
      ['clients/9223372036854775808', 400],
      ['clients/01', 400],
    ] as const)
      expect([path, (await stage.get(`/v1/records/${path}`)).status]).toEqual([path, status]);
  });

  test('records of a kind come page by page in the order of their ids, all or those that a text finds', async () => {
    const session = await open();
    const rows = ['zoeroy', 'lucroy', 'zoecote'].map((found, at) => {
      const id = String(at + 1);
      return { id, _search: found, _raw: `{"id":${id},"credit":1.10}` };
    });
    await session.atomically(async (tx) => {
      await putRecords(tx, 'clients', rows);
      await writeMeta(tx, 'filled.clients._search', '0');
    });
    const stage = await serveMirror(session);
    const preparing = await stage.get('/v1/records/clients?q=zoe');
    expect([preparing.status, await jsonOf(preparing)]).toMatchObject([503, { code: 'search.preparing' }]);
    await session.atomically((tx) => deleteMeta(tx, 'filled.clients._search'));
    const pageOf = async (query: string) => {
      const text = await (await stage.get(`/v1/records/clients?${query}`)).text();
      const { records, next } = JSON.parse(text) as { records: { id: string }[]; next: string | null };
      return [records.map(({ id }) => id), next, text.includes('"record":{"id":')];
    };
    expect(await pageOf('limit=2')).toEqual([['1', '2'], '2', true]);
    expect(await pageOf('limit=2&after=2')).toEqual([['3'], null, true]);
    expect(await pageOf('q=zoe&limit=1')).toEqual([['1'], '1', true]);
    expect(await pageOf('q=zoe&limit=1&after=1')).toEqual([['3'], null, true]);
    expect((await stage.get('/v1/records/nothing')).status).toBe(404);
  });

  test('the answer to an entry that will be sent has no note, and one while sends are paused', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await saveHeartbeat(session, { owner: 'elsewhere:1:a', roles: ['outbound'] });
    expect(await jsonOf(await stage.post('/v1/outbox', ADA, KEY))).toMatchObject({ notes: [] });
    expect(await jsonOf(await stage.get('/v1/outbox/1'))).toMatchObject({ verdict: null });
    await session.atomically((tx) => freeze(tx, 'restored', NOON));
    const paused = await jsonOf(await stage.post('/v1/outbox', ADA, KEY));
    expect(paused).toMatchObject({
      notes: [expect.stringContaining('Sends are paused since 2026-03-01 12:00:00 UTC: restored.')],
    });
    expect(await jsonOf(await stage.get('/v1/outbox/1'))).toMatchObject({
      ...{ state: 'ready', verdict: 'paused', meaning: VERDICTS.paused },
      next: [expect.stringContaining('bms-sync outbox resume')],
    });
  });

  test('a conflict is refused as it is, and settled by the API and by the page', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    const raw = '{"id":17,"name":"Theirs"}';
    await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '17', _raw: raw }]));
    const result = '{"conflicts":[{"field":"name","base":"Ada","remote":"Theirs","wanted":"Ours"}]}';
    const change = {
      operation: 'update',
      kind: 'clients',
      id: 17,
      data: { name: 'Ours' },
      base: { name: 'Ada' },
    };
    for (const index of [0, 1]) {
      const id = index + 1;
      await stage.post('/v1/outbox', JSON.stringify(change), { 'idempotency-key': `c-${id}` });
      const patch = { state: 'parked', verdict: 'conflict', result } as const;
      await session.atomically((tx) => changeEntry(tx, { id, epoch: 0, patch, now: NOON }));
      const refused = await stage.post(`/v1/outbox/${id}/retry`);
      expect([refused.status, await jsonOf(refused)]).toMatchObject([409, { code: 'outbox.conflict' }]);
      const page = await (await stage.get(`/outbox/${id}`)).text();
      expect(page).toMatch(/<th scope="row">[^]*name[^]*Ada[^]*Theirs[^]*Ours[^]*Send mine…[^]*Keep theirs/);
      const shown = /name="overwrite" value="([^"]+)"/.exec(page)?.[1];
      const path = index === 0 ? `/v1/outbox/${id}/retry` : `/outbox/${id}/retry`;
      const overwrite = index === 0 ? true : shown;
      if (index === 1) {
        expect(
          (await stage.post(path, JSON.stringify({ overwrite: '2026-03-01T11:59:59.000Z' }))).status,
        ).toBe(409);
        expect(await jsonOf(await stage.get(`/v1/outbox/${id}`))).toMatchObject({ state: 'parked' });
      }
      expect([200, 303]).toContain((await stage.post(path, JSON.stringify({ overwrite }))).status);
      expect(await jsonOf(await stage.get(`/v1/outbox/${id}`))).toMatchObject({
        state: 'ready',
        base: { name: 'Theirs' },
      });
    }
    expect((await stage.post('/v1/outbox/1/retry', '{"overwrite":1}')).status).toBe(400);
  });

  test('the waiting for a lost create is ended once, by the API and by the page', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    for (const [index, now] of [true, 'true'].entries()) {
      const id = index + 1;
      const create = JSON.stringify({ operation: 'create', kind: 'clients', data: { code: `N-${id}` } });
      await stage.post('/v1/outbox', create, { 'idempotency-key': `n-${id}` });
      const settlement = { resendAt: '2026-03-02 12:00:00.000', search: { due: 300_000, run: 1 } };
      const patch = { state: 'unsettled', verdict: 'looking', settlement } as const;
      await session.atomically((tx) => changeEntry(tx, { id, epoch: 0, patch, now: NOON }));
      expect(await (await stage.get(`/outbox/${id}`)).text()).toContain('name="now" value="true"');
      expect(await jsonOf(await stage.get(`/v1/outbox/${id}`))).toMatchObject({
        meaning: expect.stringContaining('2026-03-02 12:00') as string,
        next: expect.arrayContaining([expect.stringContaining(`outbox retry ${id} --now`)]) as string[],
      });
      const path = index === 0 ? `/v1/outbox/${id}/retry` : `/outbox/${id}/retry`;
      expect([200, 303]).toContain((await stage.post(path, JSON.stringify({ now }))).status);
      const hurried = await jsonOf(await stage.get(`/v1/outbox/${id}`));
      expect(hurried).toMatchObject({ meaning: expect.stringContaining('has ended the waiting') as string });
      expect(hurried['next']).not.toContainEqual(expect.stringContaining('--now'));
      expect((await stage.post(`/v1/outbox/${id}/retry`, JSON.stringify({ now: true }))).status).toBe(409);
    }
  });

  test('an entry is stored once under its key: new 202, the same again 200, another 409, none without a key', async () => {
    const stage = await serveMirror(await open());
    expect((await stage.post('/v1/outbox', ADA)).status).toBe(400);
    const first = await stage.post('/v1/outbox', ADA, KEY);
    expect([first.status, first.headers.get('location')]).toEqual([202, '/v1/outbox/1']);
    const audit = stage.log.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(audit).toContainEqual(
      expect.objectContaining({
        entryId: 1,
        caller: 'bearer',
        msg: 'changed by HTTP: entry 1 of the outbox',
      }),
    );
    const stored = await jsonOf(first);
    expect(stored).toMatchObject({ id: 1, key: 'ada', state: 'ready', isNew: true });
    expect(stored['notes']).toEqual([expect.stringMatching(/^Nothing is sent: .* \(writes_off\)$/)]);
    const spaced = '{ "data": {"name":"Ada", "code":"C-1"}, "kind":"clients", "operation":"create"}';
    const again = await stage.post('/v1/outbox', spaced, KEY);
    expect([again.status, await jsonOf(again)]).toEqual([200, { ...stored, isNew: false }]);
    const other = await stage.post('/v1/outbox', ADA.replace('Ada', 'Bea'), KEY);
    expect([other.status, await jsonOf(other)]).toEqual([
      409,
      expect.objectContaining({ code: 'outbox.key_taken' }),
    ]);
    expect(stage.wakes()).toBe(1);
    const double = await stage.post('/v1/outbox', ADA, { 'idempotency-key': 'double' });
    expect([double.status, await jsonOf(double)]).toEqual([
      422,
      expect.objectContaining({ code: 'outbox.double' }),
    ]);
    const allowed = ADA.replace('{', '{"allowDouble":true,');
    expect((await stage.post('/v1/outbox', allowed, { 'idempotency-key': 'double' })).status).toBe(202);
    const next = ADA.replace('C-1', 'C-2');
    const all = await Promise.all(
      Array.from({ length: 8 }, () => stage.post('/v1/outbox', next, { 'idempotency-key': 'at once' })),
    );
    expect(all.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 7 }, () => 200), 202]);
  });
});

describe.each(ONE_DATABASE)('over a mirror in %s', (_name, open) => {
  test('the status says when each schedule and each kind is due next, and whether somebody pulls', async () => {
    const session = await open();
    const kinds = ['clients', 'products'];
    const every = { timezone: 'America/Toronto' };
    const schedules = [
      { ...every, name: 'nightly', cron: '30 3 * * *', kinds },
      { ...every, name: 'products', cron: '*/10 * * * *', kinds: ['products'] },
    ];
    const stage = await serveMirror(session, { schedules, clock: fakeClock('2026-03-01T12:00:00Z') });
    const status = await jsonOf(await stage.get('/v1/status'));
    expect(status).toMatchObject({
      schedules: [
        { name: 'products', at: '2026-03-01T12:10:00.000Z' },
        { name: 'nightly', at: '2026-03-02T08:30:00.000Z', kinds },
      ],
      nextPulls: [
        { kind: 'clients', schedule: 'nightly', at: '2026-03-02T08:30:00.000Z' },
        { kind: 'products', schedule: 'products', at: '2026-03-01T12:10:00.000Z' },
      ],
      isServed: false,
    });
    const worker = { owner: 'a@b', roles: ['pulls', 'http'] };
    await saveHeartbeat(session, worker);
    expect(await jsonOf(await stage.get('/v1/status'))).toMatchObject({ isServed: true });
  });

  test('the status is the document of the command line', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await session.atomically(async (tx) => {
      await putRecords(tx, 'clients', [{ id: '1' }, { id: '2', _deleted_at: NOON_TEXT }]);
      await saveBlock(tx, { kind: 'products', reason: 'forbidden', now: NOON, probeAt: NOON });
      await freeze(tx, 'restored', NOON);
    });
    await queued(stage);
    const status = await jsonOf(await stage.get('/v1/status'));
    expect(status).toMatchObject({
      database: session.location,
      kinds: [
        { kind: 'clients', rows: 1, state: 'never' },
        { kind: 'products', rows: 0 },
      ],
      outbox: { ready: 1, parked: 0 },
      blockedKinds: [{ kind: 'products', reason: 'forbidden', since: NOON_JSON, probeAt: NOON_JSON }],
      frozen: { reason: 'restored', since: NOON_JSON },
    });
  });

  test('the status says since when a kind is not certified, why, and what waits for it', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await session.atomically(async (tx) => {
      await tx.query(sql`
        insert into kind_state (kind, tick, state, reason, complete_sweeps, certified_at, uncertified_sweeps, epoch)
        values ('clients', 9, 'complete', 'rows_unseen', 7, ${NOON_TEXT}, 4, 1),
          ('products', 9, 'certified', null, 7, ${NOON_TEXT}, 0, 1),
          ('sales_products', 9, 'complete', null, 0, null, 0, 1)`);
      const absence = {
        absentSince: NOON,
        sweep: 1,
        firstGoneAt: null,
        lastSeenAt: null,
        isCertified: false,
      };
      const states = ['suspected', 'suspected', 'approved', 'held', 'rejected', 'unlisted'] as const;
      const absences = states.map((state, index) => ({ ...absence, state, id: String(index) }));
      await saveAbsences(tx, 'clients', absences);
      for (const key of ['a', 'b'])
        await tx.query(sql`insert into outbox (idempotency_key, kind, operation, payload, state)
          values (${key}, 'clients', 'create', '{}', 'unsettled')`);
    });
    const status = await jsonOf(await stage.get('/v1/status'));
    const why = 'not yet verified: a row may be missing';
    const clients = { kind: 'clients', since: NOON_JSON, sweeps: 4, reason: 'rows_unseen', why };
    const waiting = { suspectedDeletions: 3, heldDeletions: 1, unsettledCreates: 2 };
    expect(status).toMatchObject({ uncertified: [{ ...clients, waiting }] });
    const holds = ['approved', 'held', 'rejected'].map((state) => ({
      kind: 'clients',
      state,
      records: 1,
      since: NOON_JSON,
    }));
    expect(status).toMatchObject({ holds });
  });

  test('a pull is a run that waits, asked for once, and the engine hears of it', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    const asked = await stage.post('/v1/pulls', { kinds: ['products', 'products'] });
    expect(asked.status).toBe(202);
    const answer = await jsonOf(asked);
    const warning = expect.stringContaining('bms-sync serve') as unknown; // None runs.
    expect(answer).toEqual({ runId: 1, state: 'requested', warning, kinds: ['products'] });
    expect((await jsonOf(await stage.post('/v1/pulls', { kinds: ['products'] })))['runId']).toBe(1);
    expect(await jsonOf(await stage.post('/v1/pulls'))).toMatchObject({ kinds: ['clients', 'products'] });
    expect(stage.wakes()).toBe(3);
    const runs = await jsonOf(await stage.get('/v1/runs'));
    expect(runs).toMatchObject({ runs: [{ id: 2, command: 'pull', state: 'requested' }, { id: 1 }] });
    const run = await jsonOf(await stage.get('/v1/runs/1'));
    expect(run).toMatchObject({ id: 1, kinds: ['products'], reports: [] });
    expect((await stage.get('/v1/runs/3')).status).toBe(404);
    const refused = await stage.post('/v1/pulls', { kinds: ['cleints'] });
    expect(await jsonOf(refused)).toMatchObject({ status: 422, code: 'usage.kind' });
  });

  test('a backfill is a run that waits, asked for once per extent', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    const asked = await stage.post('/v1/backfills', { kind: 'clients', ids: [7, '9'] });
    expect(asked.status).toBe(202);
    expect(await jsonOf(asked)).toMatchObject({
      runId: 1,
      state: 'requested',
      kind: 'clients',
      extent: '--ids 7,9',
    });
    const again = await stage.post('/v1/backfills', { kind: 'clients', ids: '7,9' });
    expect((await jsonOf(again))['runId']).toBe(1);
    for (const [index, extent] of [{ pages: '1-3' }, { all: true }].entries())
      expect((await jsonOf(await stage.post('/v1/backfills', { kind: 'clients', ...extent })))['runId']).toBe(
        index + 2,
      );
    expect(await jsonOf(await stage.get('/v1/runs/1'))).toMatchObject({
      command: 'backfill',
      kinds: ['clients'],
    });
    for (const wrong of [{}, { ids: '7', all: true }, { ids: '9-5' }, { pages: '0' }, { ids: '' }])
      expect(await jsonOf(await stage.post('/v1/backfills', { kind: 'clients', ...wrong }))).toMatchObject({
        status: 400,
        code: 'usage.extent',
      });
  });

  test('what does not fit the catalogue is told at once and not stored', async () => {
    const stage = await serveMirror(await open());
    const wrong = { operation: 'update', kind: 'clients', data: { nonsense: { a: 1 } } };
    const answer = await stage.post('/v1/outbox', wrong, KEY);
    expect(await jsonOf(answer)).toMatchObject({ status: 422, code: 'outbox.invalid' });
    const unknown = await stage.post('/v1/outbox', { ...JSON.parse(ADA), state: 'done' }, KEY); // prettier-ignore
    expect(await jsonOf(unknown)).toMatchObject({ status: 400, code: 'http.invalid_request' });
    expect(await jsonOf(await stage.get('/v1/outbox'))).toMatchObject({ entries: [] });
  });

  test('a field that nobody knows is refused with a guess, and stored where the body allows it', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    const wrong = { operation: 'create', kind: 'clients', data: { code: 'C-1', names: 'Ada' } };
    const refused = await stage.post('/v1/outbox', wrong, KEY);
    expect(await jsonOf(refused)).toMatchObject({
      status: 422,
      code: 'outbox.invalid',
      detail: expect.stringContaining('did you mean name?') as string,
    });
    const no = await stage.post('/v1/outbox', { ...wrong, allowUnknown: false }, KEY);
    expect(no.status).toBe(422);
    expect((await stage.post('/v1/outbox', { ...wrong, allowUnknown: 'yes' }, KEY)).status).toBe(400);
    const stored = await stage.post('/v1/outbox', { ...wrong, allowUnknown: true }, KEY);
    expect([stored.status, await jsonOf(stored)]).toMatchObject([
      202,
      { notes: ['names is unknown: it is sent unchanged', expect.stringContaining('(writes_off)')] },
    ]);
    const rows = await session.query(sql`select allow_unknown from outbox`);
    expect(rows).toEqual([{ allow_unknown: 1 }]);
  });

  test('entries are listed by state, and shown with what was tried', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await queued(stage);
    await stage.post('/v1/outbox', ADA.replaceAll('C-1', 'C-2'), { 'idempotency-key': 'second' });
    await become(session, 'done');
    const ids = async (query: string): Promise<unknown> => {
      const list = await jsonOf(await stage.get(`/v1/outbox${query}`));
      return (list['entries'] as { id: number }[]).map(({ id }) => id);
    };
    expect(await ids('')).toEqual([2, 1]);
    expect(await ids('?state=done')).toEqual([1]);
    expect(await ids('?state=open')).toEqual([2]);
    expect(await ids('?limit=1')).toEqual([2]);
    const shown = await jsonOf(await stage.get('/v1/outbox/1'));
    expect(shown).toMatchObject({ id: 1, state: 'done', history: [], payload: { code: 'C-1' } });
    expect((await stage.get('/v1/outbox/7')).status).toBe(404);
  });

  test('a person decides on entries, and hears where nothing is to decide', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    await queued(stage);
    expect((await stage.post('/v1/outbox/1/retry')).status).toBe(409);
    await become(session, 'parked');
    const retried = await jsonOf(await stage.post('/v1/outbox/1/retry'));
    expect(retried).toMatchObject({ state: 'ready', warning: null });
    await become(session, 'parked');
    const adopt = (recordId: unknown): Promise<Response> => stage.post('/v1/outbox/1/adopt', { recordId });
    expect((await adopt('501')).status).toBe(422);
    expect((await adopt('x')).status).toBe(400);
    await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '501' }]));
    expect(await jsonOf(await adopt(501))).toMatchObject({ state: 'done', recordId: '501' });
    expect((await stage.post('/v1/outbox/1/abandon')).status).toBe(409);
    expect((await stage.post('/v1/outbox/9/abandon')).status).toBe(404);
    expect(stage.wakes()).toBe(3);
  });

  test('sends go on when a person says so', async () => {
    const session = await open();
    const stage = await serveMirror(session, { sendCounter: { read: () => Promise.resolve(7) } });
    const found = { wasFrozen: true, reason: '7 sends were made from here, and this database knows of 0' };
    const warning = `${VERDICTS.writes_off} (writes_off)`;
    expect(await jsonOf(await stage.post('/v1/outbox/resume'))).toMatchObject(found);
    expect(await jsonOf(await stage.post('/v1/outbox/resume'))).toEqual({ wasFrozen: false, warning });
    await session.atomically((tx) => freeze(tx, 'restored', NOON));
    const resumed = await jsonOf(await stage.post('/v1/outbox/resume', {}));
    expect(resumed).toEqual({ wasFrozen: true, reason: 'restored', since: NOON_JSON, warning });
    expect(await session.query(sql`select value from mirror_meta where key = 'outbox.sends'`)).toEqual([
      { value: '7' },
    ]);
  });

  test('held deletions are listed and decided', async () => {
    const session = await open();
    const stage = await serveMirror(session);
    const absence = {
      state: 'held',
      sweep: 1,
      absentSince: NOON,
      firstGoneAt: null,
      isCertified: true,
      lastSeenAt: null,
    } as const;
    await session.atomically((tx) =>
      saveAbsences(
        tx,
        'clients',
        ['9', '10'].map((id) => ({ id, ...absence })),
      ),
    );
    const listed = await jsonOf(await stage.get('/v1/deletions'));
    expect(listed).toEqual({
      deletions: [
        {
          kind: 'clients',
          check: expect.any(String) as string,
          state: 'held',
          records: 2,
          since: NOON_JSON,
          ids: ['9', '10'],
        },
      ],
      suspected: [],
    });
    const approved = await jsonOf(await stage.post('/v1/deletions/clients/approve'));
    expect(approved).toEqual({ kind: 'clients', decision: 'approved', records: 2 });
    expect((await stage.post('/v1/deletions/clients/reject')).status).toBe(200);
    expect((await stage.post('/v1/deletions/products/approve')).status).toBe(409);
    expect((await stage.post('/v1/deletions/nothing/approve')).status).toBe(404);
  });
});
