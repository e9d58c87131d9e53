import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { outboxWork } from '../../../src/outbound/send/outbox-work.ts';
import { recoverEntries } from '../../../src/outbound/send/recover.ts';
import { ONE_DATABASE } from '../../pull/steps.ts';
import { Crash, dyingAt } from '../../pull/support.ts';
import { create, opened, stage, update, zoes, type Stage } from '../stage.ts';

/** Works an entry in a process that dies at its nth step in the database; false where it lived. */
async function diesAt(on: Stage, id: number, n: number): Promise<boolean> {
  const { epoch } = await on.entry(id);
  const dying = outboxWork({ ...on.parts, session: dyingAt(on.session, n), owner: 'dead:1:a' });
  try {
    await dying.work({ id, epoch });
    return false;
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
    return true;
  }
}

const takeOver = (on: Stage): Promise<void> => on.outbox.releaseStaleClaims((owner) => owner !== 'dead:1:a');

test('D06, D07: wherever a process dies that creates, there is one record in the end', async () => {
  const on = await opened();
  for (let n = 1; ; n++) {
    const id = await on.store(create({ code: `N-${n}`, name: `N ${n}` }));
    const hasDied = await diesAt(on, id, n);
    await takeOver(on);
    expect((await on.entry(id)).owner, `step ${n}`).toBeNull();
    await on.work();
    for (const seconds of [300, 1500, 90_000, 100]) await on.pass(seconds);
    expect(await on.entry(id), `step ${n}`).toMatchObject({ state: 'done', owner: null });
    const { world } = on.service;
    const made = world.ids('clients').filter((at) => world.get('clients', at)?.['code'] === `N-${n}`);
    expect(made, `step ${n}`).toHaveLength(1);
    if (!hasDied) break;
    expect(n).toBeLessThan(60);
  }
  const links = await on.rows(sql`select count(*) as n from links`);
  const entries = await on.rows(sql`select count(*) as n from outbox`);
  expect(links).toEqual(entries);
});

test('wherever a process dies that updates, it is done in the end, with at most one event', async () => {
  const on = await opened();
  const client = await on.firstId('clients');
  for (let n = 1; ; n++) {
    const seen = (await on.events()).length;
    const id = await on.store(update(client, { name: `N ${n}` }));
    const hasDied = await diesAt(on, id, n);
    await takeOver(on);
    await on.work();
    await on.pass(60);
    expect(await on.entry(id), `step ${n}`).toMatchObject({ state: 'done', owner: null });
    expect(on.service.world.get('clients', Number(client))?.['name']).toBe(`N ${n}`);
    expect((await on.events()).slice(seen), `step ${n}`).toEqual([`${client} updated outbox:${id}`]);
    if (!hasDied) break;
    expect(n).toBeLessThan(100);
  }
});

test('D08: wherever a process dies that settles, the same comes of it', async () => {
  const on = await opened();
  for (let n = 1; ; n++) {
    on.service.setFaults([{ on: { kind: 'clients', method: 'POST' }, times: 1, do: { drop: 'after' } }]);
    const id = await on.store(create({ code: `N-${n}`, name: `N ${n}` }));
    await on.work();
    await on.clock.sleep(301_000);
    await on.pull('clients');
    const hasDied = await diesAt(on, id, n);
    await takeOver(on);
    await on.pass(100);
    expect(await on.entry(id), `step ${n}`).toMatchObject({ state: 'done', verdict: 'adopted', attempts: 1 });
    if (!hasDied) break;
    expect(n).toBeLessThan(40);
  }
});

describe.each(ONE_DATABASE)('an owner that is taken for dead in %s', (database) => {
  test('D20: and whose send is open leaves it to be looked for', async () => {
    const on = await opened({ database });
    const { source } = on.parts;
    const gone = { ...source, write: () => Promise.reject(new Crash()) };
    const id = await on.store(create());
    const dead = outboxWork({ ...on.parts, source: gone, owner: 'dead:1:a' });
    await expect(dead.work({ id, epoch: 0 })).rejects.toThrow(Crash);
    expect(await on.entry(id)).toMatchObject({ state: 'sending', owner: 'dead:1:a' });
    await takeOver(on);
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', verdict: 'ambiguous', owner: null });
    expect(await on.grades(id)).toEqual(['ambiguous']);
  });

  test('D10: and that was only slow stores nothing: its answer counts as lost', async () => {
    const on = await opened({ database });
    const { source } = on.parts;
    const slow: typeof source.write = async (request) => {
      const answer = await source.write(request);
      await takeOver(on);
      return answer;
    };
    const id = await on.store(create());
    const other = outboxWork({
      ...on.parts,
      source: { ...source, write: slow },
      owner: 'dead:1:a',
    });
    await other.work({ id, epoch: 0 });
    expect(await on.entry(id)).toMatchObject({ state: 'unsettled', owner: null });
    await on.pass(300);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'adopted' });
    expect(zoes(on)).toBe(1);
  });

  test('and that ended its work in this very moment keeps what it did', async () => {
    const on = await opened({ database });
    const { session } = on;
    const id = await on.store(create());
    // What is found is read before it is taken back: in between, the owner goes on to its end.
    const behind: typeof session.query = async (statement) => {
      const before = await session.query(statement);
      if (sent !== null) return before;
      sent = outboxWork({ ...on.parts, owner: 'slow:1:a' }).work({ id, epoch: 0 });
      await sent;
      return [{ ...(await session.query(sql`select * from outbox`))[0], ...SENDING }];
    };
    let sent: Promise<unknown> | null = null;
    const SENDING = { state: 'sending', owner: 'slow:1:a', epoch: 1 };
    await recoverEntries({ ...on.parts, session: { ...session, query: behind } }, () => true);
    expect(await on.entry(id)).toMatchObject({ state: 'done', verdict: 'sent', owner: null });
    await on.pass(100_000);
    expect(zoes(on)).toBe(1);
  });
});

test('what is ours and in hand is left alone, what an error dropped is taken back', async () => {
  const on = await opened();
  const { source } = on.parts;
  const dropping: typeof source.write = async () => {
    await outbox.releaseStaleClaims(() => true); // In hand: nothing happens.
    throw new Crash();
  };
  const outbox = outboxWork({ ...on.parts, source: { ...source, write: dropping } });
  const id = await on.store(create());
  await expect(outbox.work({ id, epoch: 0 })).rejects.toThrow(Crash);
  expect(await on.entry(id)).toMatchObject({ state: 'sending' });
  await outbox.releaseStaleClaims(() => true);
  expect(await on.entry(id)).toMatchObject({ state: 'unsettled', owner: null });
});

test('another process that lives is left alone', async () => {
  const on = await opened();
  const other = stage(on.service, on.session, { clock: on.clock, parts: { owner: 'us:2:b' } });
  const id = await on.store(create());
  await on.session.atomically((tx) => tx.query(sql`update outbox set owner = 'us:1:a' where id = ${id}`));
  await other.outbox.releaseStaleClaims(() => true);
  expect(await on.entry(id)).toMatchObject({ owner: 'us:1:a' });
});
