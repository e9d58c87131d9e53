import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { mirror, sandbox } from './support.ts';
import { newRequests, pullOne } from './steps.ts';
import { requestNumber } from '../support/requests.ts';

const kind = 'clients';

/** The pages that were asked for, in the order of asking. */
function newPages(service: Sandbox): () => number[] {
  const fresh = newRequests(service);
  return () =>
    fresh().flatMap((request) => {
      const [, page] = /^\/api\/clients\?page=(\d+)/.exec(request) ?? [];
      return page === undefined ? [] : [Number(page)];
    });
}

test('the first pull of a list of several pages reads it twice; a quiet one after it, once', async () => {
  const service = await sandbox({ size: 260 });
  const session = await mirror();
  const pages = newPages(service);

  await pullOne(service, session, { kind });
  const read = pages();
  const first = read.slice(0, 5);
  const rest = read.slice(5);
  expect(first.slice(0, 2)).toEqual([1, 3]);
  expect([...first.slice(2)].sort()).toEqual([1, 2, 4]); // The first sweep asks on until an empty page.
  expect(rest[0]).toBe(3); // The last page again, alone.
  expect([...rest.slice(1)].sort()).toEqual([1, 2]);

  expect(await pullOne(service, session, { kind, minute: 10 })).toMatchObject({ state: 'certified' });
  expect(pages().sort()).toEqual([1, 1, 2, 3]);
});

test('a list of one page certifies itself, and is read once', async () => {
  const service = await sandbox({ size: 60 });
  const session = await mirror();
  const pages = newPages(service);
  expect(await pullOne(service, session, { kind })).toMatchObject({ state: 'certified' });
  pages();
  expect(await pullOne(service, session, { kind, minute: 10 })).toMatchObject({ state: 'certified' });
  expect(pages()).toEqual([1]);
});

test('a long list is not read again', async () => {
  const service = await sandbox({ size: 260 });
  const session = await mirror();
  const pages = newPages(service);
  const rules = { repeatBelowPages: 3 };
  expect(await pullOne(service, session, { kind, rules })).toMatchObject({ state: 'complete' });
  expect(pages()).toHaveLength(5);

  expect(await pullOne(service, session, { kind, rules: { repeatBelowPages: 4 }, minute: 10 })).toMatchObject(
    {
      state: 'certified',
    },
  );
  expect(pages()).toHaveLength(4);
});

test('new records alone are no reason to read again; a missing one is, and a write of ours that is looked for', async () => {
  const service = await sandbox({ size: 260 });
  const session = await mirror();
  await pullOne(service, session, { kind });
  const pages = newPages(service);
  // Sorted by code: these come on page 2, which one sweep sees on one side of its point only.
  const { code } = service.world.get(kind, service.world.ids(kind)[150] ?? 0) ?? {};
  const middle = typeof code === 'string' ? code : '';
  service.world.insert(kind, { code: `${middle}a` });
  expect(await pullOne(service, session, { kind, minute: 10 })).toMatchObject({
    state: 'complete',
    reason: 'certified_earlier',
    created: 1,
  });
  expect(pages()).toHaveLength(4);

  await pullOne(service, session, { kind, minute: 20 });
  service.world.insert(kind, { code: `${middle}b` });
  await session.atomically((tx) =>
    tx.query(sql`insert into outbox (idempotency_key, kind, operation, payload, state)
      values ('k', 'clients', 'create', '{}', 'unsettled')`),
  );
  pages();
  expect(await pullOne(service, session, { kind, minute: 30 })).toMatchObject({ state: 'certified' });
  expect(pages()).toHaveLength(4 + 3);
  await session.atomically((tx) => tx.query(sql`delete from outbox`));

  service.world.insert(kind, { code: `${middle}c` });
  service.world.remove(kind, service.world.ids(kind)[10] ?? 0);
  expect(await pullOne(service, session, { kind, minute: 40 })).toMatchObject({
    reason: 'absences_unproven',
  });
  expect(pages()).toHaveLength(4 + 3);
});

test('a list that never stands still is read again twice at most', async () => {
  const service = await sandbox({ size: 260 });
  const session = await mirror();
  await pullOne(service, session, { kind });
  const pages = newPages(service);
  let count = 0;
  const stir = async (): Promise<void> => {
    for (let n = 0; n < 12; n++) {
      await requestNumber(service, 1);
      const ids = service.world.ids(kind);
      service.world.insert(kind, { code: `A${count++}` });
      service.world.remove(kind, ids[100 + count] ?? 0);
    }
  };
  const stirred = stir();

  expect(await pullOne(service, session, { kind, minute: 10 })).toMatchObject({ state: 'complete' });
  expect(pages().length).toBeLessThanOrEqual(5 + 4 + 4);
  const rest = pullOne(service, session, { kind, minute: 20 });
  await Promise.race([stirred, rest]);
  await rest;
});
