import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { MAX_DEPTH, parseJson } from '../../../src/lib/json/json.ts';
import { abandonEntry, retryEntry } from '../../../src/outbound/decisions/decide.ts';
import { LISTED_KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { pruneChanges } from '../../../src/store/records/change-store.ts';
import { pullKinds } from '../../../src/pull/sweep/pull-kinds.ts';
import type { Source } from '../../../src/source/source.ts';
import { RULES, logger, sandbox } from '../../pull/support.ts';
import {
  ZOE,
  asked,
  create,
  endPatience,
  opened,
  spoil,
  stage,
  zoes,
  enter,
  type Opening,
  type Stage,
} from '../stage.ts';

/** A create whose arrival is unknown. */
async function lostCreate(
  arrives: 'arrived' | 'did not arrive',
  { kind = 'clients', data = ZOE, ...opening }: Opening & { kind?: string; data?: object } = {},
): Promise<{ on: Stage; id: number }> {
  const on = await opened({ pulled: [kind], ...opening });
  spoil(on, 'POST', { drop: arrives === 'arrived' ? 'after' : 'before' }, { kind, times: 1 });
  const id = await on.send(create({ ...data }, kind));
  return { on, id };
}

const retry = (on: Stage, id: number, order: { allowDouble?: true } = {}) =>
  retryEntry(on.session, on.parts.kinds, { id, ...order }, on.clock.now());
const resultOf = async (on: Stage, id: number): Promise<unknown> =>
  JSON.parse((await on.entry(id)).result ?? 'null');

/** A record that our create has made. */
async function makeOwn(on: Stage, data: object): Promise<string> {
  const id = await on.send(create({ ...data }));
  return (await on.entry(id)).recordId ?? '';
}

describe('a create of unknown outcome', () => {
  test('is parked where two records are exactly it', async () => {
    const { on, id } = await lostCreate('arrived');
    const twin = enter(on, ZOE);
    await on.pass(300);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'twins', nextAttemptAt: null });
    expect(await resultOf(on, id)).toMatchObject({ ids: expect.arrayContaining([twin]) as unknown });
    expect(await on.rows(sql`select * from links`)).toEqual([]);
  });

  test('whose record shows more that another lost one sent leaves it to that one', async () => {
    const name = 'Garage du Nord Tremblay';
    const on = await opened({ service: { size: 12 } });
    spoil(on, 'POST', { drop: 'before' }, { times: 1 });
    const part = await on.send(create({ name }));
    spoil(on, 'POST', { drop: 'after' }, { times: 1 });
    const whole = await on.send(create({ code: 'ZZ-1', name }));
    await endPatience(on);
    expect(await on.entry(whole)).toMatchObject({ state: 'done', verdict: 'adopted', attempts: 1 });
    expect(await on.entry(part)).toMatchObject({ state: 'done', verdict: 'resent' });
    const codes = on.service.world
      .ids('clients')
      .map((id) => on.service.world.get('clients', id))
      .filter((record) => record?.['name'] === name)
      .map((record) => record?.['code'] ?? '');
    expect(codes.sort()).toEqual(['', 'ZZ-1']);
  });

  test('is not sent again by a list that is read under another token than before the send', async () => {
    const { on, id } = await lostCreate('did not arrive');
    await on.session.atomically((tx) =>
      tx.write(sql`update outbox set preimage = replace(preimage, '"holder":"', '"holder":"other ')`),
    );
    await endPatience(on);
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', attempts: 1 });
    expect(asked(on, 'POST')).toHaveLength(1);
  });

  test.each(['another', 'our own', 'our own, whose history was pruned'])(
    'is found under the id of a deleted record of: %s',
    async (owner) => {
      const on = await opened({ service: { seed: 7 } });
      const old = { code: 'OLD-1', name: 'Old' };
      const recordId = owner === 'another' ? enter(on, old) : await makeOwn(on, old);
      await on.pull('clients');
      on.service.world.remove('clients', Number(recordId));
      for (let sweep = 0; sweep < 3; sweep++) {
        await on.clock.sleep(1_000_000);
        await on.pull('clients');
      }
      expect(
        await on.rows(sql`select 1 from clients where id = ${recordId} and _deleted_at is not null`),
      ).toHaveLength(1);
      enter(on, { code: 'LATER', name: 'Later' });
      await on.pull('clients');
      if (owner.endsWith('pruned')) await on.session.atomically((tx) => pruneChanges(tx, on.clock.now()));
      spoil(on, 'POST', { drop: 'before' }, { times: 1 });
      const id = await on.send(create());
      on.service.world.insert('clients', { ...ZOE, id: Number(recordId) });
      await on.pass(300);
      expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted', recordId });
      expect(zoes(on)).toBe(1);
    },
  );

  test('is found though another entry lands its record while a sweep has asked for a page', async () => {
    const on = await opened();
    on.service.setFaults([
      { on: { kind: 'clients', method: 'GET', page: 1 }, times: 1, do: { commitAfterMs: 400 } },
      { on: { kind: 'clients', method: 'POST' }, skip: 1, times: 1, do: { drop: 'after' } },
    ]);
    const seen = asked(on, 'GET').length;
    const sweep = on.pull('clients');
    await expect.poll(() => asked(on, 'GET').length).toBeGreaterThan(seen);
    const other = await on.store(create({ code: 'ZZ-0', name: 'A' }));
    const lost = await on.store(create());
    for (const due of await on.outbox.due(10)) await on.outbox.work(due);
    await sweep;
    expect(await on.entry(other)).toMatchObject({ state: 'done', verdict: 'sent' });
    expect(await on.entry(lost)).toMatchObject({ state: 'unsettled' });
    expect(zoes(on)).toBe(1);
    await on.pass(300);
    expect(await on.entry(lost)).toMatchObject({ state: 'done', verdict: 'adopted' });
  });

  test('is parked once patience has ended where a record could be it, in whatever spelling', async () => {
    const { on, id } = await lostCreate('did not arrive', {
      data: { ...ZOE, name: 'Zoé Tremblay' },
    });
    const alike = enter(on, { code: '0001', name: 'M. ZOE TREMBLAY' });
    await on.pass(300);
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', verdict: 'looking' });
    await endPatience(on);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'look_alike' });
    expect(await resultOf(on, id)).toEqual({ ids: [alike] });
    expect(asked(on, 'POST')).toHaveLength(1);
  });

  test('is parked where a record that was live before has become it', async () => {
    const { on, id } = await lostCreate('did not arrive');
    const reused = await on.firstId('clients');
    on.service.world.update('clients', Number(reused), ZOE);
    await endPatience(on);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'look_alike', attempts: 1 });
    expect(await resultOf(on, id)).toEqual({ ids: [reused] });
  });

  test('does not grow old while no process works it', async () => {
    const { on, id } = await lostCreate('did not arrive');
    await on.clock.sleep(10 * 86_400_000);
    const { session, service, clock } = on;
    const later = stage(service, session, { clock });
    await later.work();
    expect((await later.entry(id)).elapsedMs).toBe(0);
    await later.pass(300);
    expect(await later.entry(id)).toMatchObject({ state: 'unsettled', elapsedMs: 300_000, attempts: 1 });
  });

  test('is parked where the mirror has come to hold the data of another service', async () => {
    const { on, id } = await lostCreate('did not arrive');
    const other = await sandbox();
    const kinds = LISTED_KINDS.filter(({ name }) => name === 'clients');
    const moved = stage(other, on.session, { clock: on.clock });
    await pullKinds(
      {
        session: on.session,
        source: moved.parts.source as Source,
        clock: on.clock,
        logger,
        owner: 'us:1:a',
      },
      { ...RULES, kinds, baseUrl: other.url, acceptNewSource: true },
    );
    await moved.pass(300);
    expect(await moved.entry(id)).toMatchObject({ state: 'parked', verdict: 'other_source' });
  });

  test('D05: that arrives hours late is adopted, not doubled', async () => {
    const { on, id } = await lostCreate('did not arrive');
    await on.pass(300);
    await on.pass(1500);
    const late = enter(on, ZOE);
    await on.pass(5400);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted', recordId: late });
    await on.pass(100_000);
    expect(zoes(on)).toBe(1);
  });

  test('is never taken for a record that was there before', async () => {
    const on = await opened();
    on.service.world.insert('clients', ZOE);
    await on.pull('clients');
    spoil(on, 'POST', { drop: 'before' }, { times: 1 });
    const id = await on.send({ ...create(), allowDouble: true });
    await on.pass(300);
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', verdict: 'looking' });
  });

  test('waits, and is not sent again, where the list cannot be known; in the end it is parked', async () => {
    const { on, id } = await lostCreate('did not arrive');
    on.service.setFaults([{ on: { kind: 'clients', method: 'GET' }, do: { html: true } }]);
    for (const seconds of [300, 3300, 18_000, 21_600, 43_200, 86_000, 90_000, 60, 60]) {
      await on.pass(seconds);
      expect(asked(on, 'POST')).toHaveLength(1);
    }
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'no_certificate' });
    on.service.setFaults([]);
    await retry(on, id);
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', attempts: 2 });
  });

  test('is looked for by a sweep, however long nobody was there to look', async () => {
    const { on, id } = await lostCreate('arrived');
    await on.pass(1_000_000);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted' });
    expect(zoes(on)).toBe(1);
  });

  test('is not sent again by what was known long ago', async () => {
    const { on, id } = await lostCreate('did not arrive');
    await on.clock.sleep(87_000_000);
    await on.pull('clients'); // It is known after patience, and nobody works the outbox for a week.
    await on.clock.sleep(600_000_000);
    on.service.world.insert('clients', ZOE);
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted' });
    expect(zoes(on)).toBe(1);
  });
});

describe('a record that no row can be made of', () => {
  /** Nested deeper than any record is. */
  const deep = parseJson('['.repeat(MAX_DEPTH + 2) + ']'.repeat(MAX_DEPTH + 2));

  /** A create that did not arrive, and the list shows something that may be it. */
  async function doubtful(): Promise<{ on: Stage; id: number; unreadable: string }> {
    const lost = await lostCreate('did not arrive');
    const { world } = lost.on.service;
    const id = world.insert('clients', { name: 'x' })['id'] as number;
    const get = world.get.bind(world);
    Object.assign(world, {
      get: (kind: string, at: number) => (at === id ? { ...ZOE, id, deep } : get(kind, at)),
    });
    return { ...lost, unreadable: String(id) };
  }

  test('may be the one that is missing: it is parked, and sent again only where a person has seen it', async () => {
    const { on, id, unreadable } = await doubtful();
    await endPatience(on);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'no_certificate' });
    expect((await on.entry(id)).settlement).toMatchObject({
      barring: [unreadable],
      awaits: { why: 'some records could not be stored as rows', records: [unreadable] },
    });
    expect(asked(on, 'POST')).toHaveLength(1);
    await retry(on, id);
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', attempts: 2 });
  });
});

describe('a person who retries', () => {
  const ALIKE = { ...ZOE, name: 'ZOE' };

  test('has seen the candidates: they are none any more', async () => {
    const { on, id } = await lostCreate('did not arrive');
    on.service.world.insert('clients', ALIKE);
    await endPatience(on);
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'look_alike' });
    await expect(retry(on, id)).rejects.toMatchObject({ code: 'outbox.double' }); // One has its natural key.
    await retry(on, id, { allowDouble: true });
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'resent', attempts: 2 });
  });

  test('still gets what has come since', async () => {
    const { on, id } = await lostCreate('did not arrive');
    on.service.world.insert('clients', ALIKE);
    await endPatience(on);
    const late = enter(on, ZOE);
    await on.clock.sleep(20_000_000);
    await retry(on, id, { allowDouble: true });
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted', recordId: late });
  });

  test('D15: of a refused create has it looked for first: a refusal may have been carried out', async () => {
    const on = await opened();
    spoil(on, 'POST', { statusAfter: 422 }, { times: 1 });
    const id = await on.send(create());
    expect(await on.entry(id)).toMatchObject({ state: 'rejected' });
    await retry(on, id);
    await on.work();
    expect(asked(on, 'POST')).toHaveLength(1);
    await on.pass(300);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted' });
    expect(zoes(on)).toBe(1);
  });

  test('keeps their word while the service puts it off, and nothing is doubled meanwhile', async () => {
    const { on, id } = await lostCreate('did not arrive');
    on.service.world.insert('clients', ALIKE);
    await endPatience(on);
    spoil(on, 'POST', { status: 429 });
    await retry(on, id, { allowDouble: true });
    await on.work();
    expect(await on.entry(id)).toMatchObject({ verdict: 'busy', attempts: 2 });
    await on.pass(30);
    expect((await on.entry(id)).attempts).toBe(3);
    on.service.setFaults([]);
    on.service.world.insert('clients', ZOE); // The first send arrives after all.
    await on.pull('clients');
    await on.pass(1000);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted' });
  });
});

describe('a person who ends the waiting', () => {
  const hurry = (on: Stage, id: number, by = 'ada') =>
    retryEntry(on.session, on.parts.kinds, { id, hurriedBy: by }, on.clock.now());

  test('has it sent after one certified sweep that begins after the order, and no sooner', async () => {
    const { on, id } = await lostCreate('did not arrive');
    await on.pass(100);
    await hurry(on, id);
    await on.work();
    expect(asked(on, 'POST')).toHaveLength(1); // Not before `settleSeconds`.
    await on.pass(200);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'resent', attempts: 2 });
  });

  test('gets a sweep of its own, though another one has just shown that nothing is there', async () => {
    const { on, id } = await lostCreate('did not arrive');
    await on.pass(300);
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', verdict: 'looking' });
    const late = enter(on, ZOE);
    await hurry(on, id);
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted', recordId: late });
    expect(zoes(on)).toBe(1);
  });

  test('is not obeyed by a list that certifies nothing', async () => {
    const { on, id } = await lostCreate('did not arrive');
    await on.pass(300);
    on.service.setFaults([{ on: { kind: 'clients', method: 'GET' }, do: { html: true } }]);
    await hurry(on, id);
    await on.pass(60);
    await on.pass(3600);
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', attempts: 1 });
    on.service.setFaults([]);
    await on.pull('clients');
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'resent', attempts: 2 });
  });

  test('has it parked by any new record, also one that shows nothing of it', async () => {
    const { on, id } = await lostCreate('did not arrive');
    await on.pass(300);
    const other = enter(on, { code: '7', name: 'Garage Roy' });
    await hurry(on, id);
    await on.work();
    expect(await on.entry(id)).toMatchObject({ state: 'parked', verdict: 'look_alike' });
    expect(await resultOf(on, id)).toEqual({ ids: [other] });
  });

  test('is named to the next one, and entries of a kind share a sweep', async () => {
    const { on, id } = await lostCreate('did not arrive');
    spoil(on, 'POST', { drop: 'before' }, { kind: 'clients', times: 1 });
    const second = await on.send(create({ ...ZOE, code: 'Z-2', name: 'Zacharie' }));
    await on.pass(300);
    await hurry(on, id);
    await expect(hurry(on, id, 'bob')).rejects.toThrow(/^ada has ended the waiting of entry \d+ at /);
    await hurry(on, second);
    const before = asked(on, 'GET').length;
    await on.work();
    const pages = asked(on, 'GET').slice(before);
    expect(new Set(pages).size).toBe(pages.length);
    expect(await on.entry(id)).toMatchObject({ state: 'done', attempts: 2 });
    expect(await on.entry(second)).toMatchObject({ state: 'done', attempts: 2 });
  });

  test('can end no waiting but that for an unknown outcome', async () => {
    const { on, id } = await lostCreate('did not arrive');
    await abandonEntry(on.session, id, on.clock.now());
    await expect(hurry(on, id)).rejects.toMatchObject({ code: 'outbox.wrong_state' });
  });
});

test('D17: what a person gives up is not looked for, and lets the next one go', async () => {
  const { on, id } = await lostCreate('did not arrive');
  const next = await on.send(create({ ...ZOE, name: 'B' }));
  await abandonEntry(on.session, id, on.clock.now());
  await on.work();
  expect(await on.entry(id)).toMatchObject({ state: 'abandoned' });
  expect(await on.entry(next)).toMatchObject({ state: 'done' });
});
