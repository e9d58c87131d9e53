import { describe, expect, test } from 'vitest';
import { readHolds } from '../../src/store/records/deletion-store.ts';
import { readCheck } from '../../src/store/records/hold-store.ts';
import type { Session } from '../../src/db/session/session.ts';
import { mirror, liveIds, sandbox } from './support.ts';
import { ONE_DATABASE, MIRRORS, absencesOf, decideHeld, pullOne, removeFirst, shortEvents } from './steps.ts';

const liveCount = async (session: Session, kind: string): Promise<number> =>
  (await liveIds(session, kind)).length;

const holds = async (session: Session): Promise<string[]> =>
  (await readHolds(session)).map(({ kind, state, records }) => `${kind} ${state} ${records}`);

describe.each(ONE_DATABASE)('%s', (database) => {
  test('an emptied list is held, however few its rows, and approved it is empty', async () => {
    const service = await sandbox();
    const session = await MIRRORS[database]();
    const kind = 'departments';
    await pullOne(service, session, { kind });
    removeFirst(service, kind, service.world.count(kind) - 2);
    for (const minute of [20, 40]) await pullOne(service, session, { kind, minute });
    removeFirst(service, kind, 2);
    for (const minute of [60, 80, 100]) await pullOne(service, session, { kind, minute });
    expect(await holds(session)).toEqual([`${kind} held ${await liveCount(session, kind)}`]);
    expect(await liveCount(session, kind)).toBeGreaterThanOrEqual(2);

    const check = await readCheck(session, kind, 'held'); // Of the ones that joined, too.
    await decideHeld(session, kind, 'approved', check);
    for (const minute of [120, 140]) await pullOne(service, session, { kind, minute });

    expect(await liveCount(session, kind)).toBe(0);
  });
});

describe.each(ONE_DATABASE)('%s', (database) => {
  test.each(['clients', 'punches'])('an approved hold of %s still needs its proof', async (kind) => {
    const service = await sandbox();
    const session = await MIRRORS[database]();
    await pullOne(service, session, { kind });
    const [back = {}] = removeFirst(service, kind, 12);
    const id = Number(back['id']);
    for (const minute of [20, 40]) await pullOne(service, session, { kind, minute });
    expect(await holds(session)).toEqual([`${kind} held 12`]);

    expect(await decideHeld(session, kind, 'approved')).toMatchObject({ records: 12 });
    service.world.insert(kind, back); // It was gone when a person looked; now it is there.
    for (const minute of [60, 80]) await pullOne(service, session, { kind, minute });

    expect(await shortEvents(session)).toHaveLength(11);
    expect(await shortEvents(session)).not.toContain(`${id} deleted`);
    expect(await liveCount(session, kind)).toBe(service.world.count(kind));
    expect(await holds(session)).toEqual([]);
  });
});

test('held records that are listed again are let go, and the last of them ends the hold', async () => {
  const service = await sandbox();
  const session = await mirror();
  await pullOne(service, session, { kind: 'clients' });
  const records = removeFirst(service, 'clients', 10);
  await pullOne(service, session, { kind: 'clients', minute: 20 });
  for (const record of records.slice(1)) service.world.insert('clients', record);
  await pullOne(service, session, { kind: 'clients', minute: 40 });
  expect(await absencesOf(session)).toEqual([`${Number(records[0]?.['id'])} suspected`]); // Most came back: the hold is over.

  service.world.insert('clients', records[0] ?? {});
  await pullOne(service, session, { kind: 'clients', minute: 60 });
  expect(await absencesOf(session)).toEqual([]);
  expect(await shortEvents(session)).toEqual([]);
});

test('few that go one after the other need no person', async () => {
  const service = await sandbox();
  const session = await mirror();
  await pullOne(service, session, { kind: 'clients' });
  for (const minute of [20, 60, 100, 140, 180]) {
    removeFirst(service, 'clients', 3);
    await pullOne(service, session, { kind: 'clients', minute });
    await pullOne(service, session, { kind: 'clients', minute: minute + 20 });
  }

  expect(await shortEvents(session)).toHaveLength(15);
  expect(await holds(session)).toEqual([]);
});

test('a list without a total that keeps its round number of rows may be cut off', async () => {
  const service = await sandbox({ size: 50 });
  const session = await mirror(); // 100 punches, without meta.
  await pullOne(service, session, { kind: 'punches' });
  removeFirst(service, 'punches', 2);
  for (const note of ['a', 'b']) service.world.insert('punches', { note });

  for (const minute of [20, 40, 60]) await pullOne(service, session, { kind: 'punches', minute });

  expect(await holds(session)).toEqual(['punches held 2']);
});
