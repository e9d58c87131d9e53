import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { migrate } from '../../src/views/migrate.ts';
import type { Session } from '../../src/db/session/session.ts';
import { deadOwner } from '../support/lapse.ts';
import { openSqliteSession } from '../../src/db/sqlite/session.ts';
import type { BackfillReport } from '../../src/pull/sweep/backfill.ts';
import type { PullReport } from '../../src/pull/sweep/pull-kinds.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { sized } from '../support/tiers.ts';
import { ALL, backfillFrom, clockAt, eventsOf, kindsNamed, pullOne, shortEvents } from './steps.ts';
import {
  Crash,
  contentOf,
  documentedMirror,
  dyingAt,
  pullFrom,
  rowsOf,
  sandbox,
  truthOf,
} from './support.ts';

const NAMES = ['clients', 'punches'];
/** Lists of two pages, as few rows as that takes. */
const TWO_PAGES = { faults: [{ do: { clampPerPage: 20 } }] };
const NO_GRACE = { graceSeconds: 0, holdAbove: { rows: 5, share: 0.02 } };

/** Whether work died at its operation; any other error is thrown. */
async function dies(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return false;
  } catch (error) {
    if (error instanceof Crash) return true;
    throw error;
  }
}

function pullAs(name: string, service: Sandbox, session: Session, minute = 0): Promise<PullReport> {
  return pullFrom(service, session, {
    parts: { owner: deadOwner(name), clock: clockAt(minute) },
    request: { kinds: kindsNamed(...NAMES), deletions: NO_GRACE },
  });
}

/** Makes a mirror file, and gives out copies of it: each death needs a mirror that has not died yet. */
async function copiesOf(prepare: (session: Session) => Promise<unknown>): Promise<() => Session> {
  const folder = tempFolder();
  const original = join(folder, 'original.db');
  const session = openSqliteSession(original);
  await migrate(session, KINDS);
  await prepare(session);
  await session.close();
  let copies = 0;
  return () => {
    const copy = join(folder, `${copies++}.db`);
    copyFileSync(original, copy);
    return openSqliteSession(copy);
  };
}

interface Deaths {
  readonly minute: number;
  /** The operation at which the first pull dies. */
  readonly first: number;
  readonly check: (session: Session, when: 'dead' | 'healed') => Promise<void>;
}

/** The operations from one death to the next: each test of this file begins at another one. */
const STRIDE = sized({ quick: 3, acceptance: 1, deep: 1 });

/** Lets a pull die at one of its operations after the other; returns how many there are. */
async function dieEverywhere(
  service: Sandbox,
  copy: () => Session,
  { minute, first, check }: Deaths,
): Promise<number> {
  for (let n = Math.min(first, STRIDE); ; n += STRIDE) {
    await using session = copy();
    if (!(await dies(pullAs('first', service, dyingAt(session, n), minute)))) return n - STRIDE;
    await check(session, 'dead');
    await pullAs('second', service, session, minute);
    await check(session, 'healed');
  }
}

test('A24: whatever operation a first pull dies at, pages are whole and the next pull heals it', async () => {
  const service = await sandbox({ size: 21, ...TWO_PAGES });
  const truth = truthOf(service);
  const check = async (session: Session, when: 'dead' | 'healed'): Promise<void> => {
    await expectWholePages(session);
    expect(await eventsOf(session)).toEqual([]);
    if (when === 'dead') return;
    const content = await contentOf(session);
    for (const name of NAMES) expect(content[name]).toEqual(truth[name]);
    const states = await session.query(sql`select state from kind_state`);
    expect(states).toEqual([{ state: 'certified' }, { state: 'certified' }]);
  };
  const died = await dieEverywhere(service, await copiesOf(() => Promise.resolve()), {
    minute: 0,
    first: 1,
    check,
  });
  expect(died).toBeGreaterThan(40);
});

test('whatever operation a pull dies at, its events are there once it is pulled again, and each of them once', async () => {
  const service = await sandbox({ size: 26, ...TWO_PAGES });
  const { world } = service;
  const [changed = 0, gone = 0, back = 0] = world.ids('clients').slice(8);
  const record = world.get('clients', back) ?? {};
  const copy = await copiesOf(async (session) => {
    await pullAs('earlier', service, session);
    world.remove('clients', back);
    await pullAs('earlier', service, session, 10);
    expect(await shortEvents(session)).toEqual([`${back} deleted`]);
  });
  world.update('clients', changed, { city: 'Matane' });
  world.remove('clients', gone);
  world.insert('clients', record);
  const fresh = Number(world.insert('clients', { code: 'ZZZ' })['id']);
  const expected = [`${changed} updated`, `${fresh} created`, `${back} restored`, `${gone} deleted`].sort();

  const check = async (session: Session, when: 'dead' | 'healed'): Promise<void> => {
    await expectEventsWithRows(session);
    await expectWholePages(session);
    if (when === 'dead') return;
    expect((await shortEvents(session)).slice(1).sort()).toEqual(expected);
    const rows = (await rowsOf(session, 'clients')).filter((row) => row['_deleted_at'] === null);
    expect(rows.map((row) => row['_raw'])).toEqual(truthOf(service)['clients']);
  };
  expect(await dieEverywhere(service, copy, { minute: 30, first: 2, check })).toBeGreaterThan(40);
});

/** The latest event of each record shows what its row holds. */
async function expectEventsWithRows(session: Session): Promise<void> {
  const latest = new Map((await eventsOf(session)).map((event) => [String(event['record_id']), event]));
  const rows = new Map((await rowsOf(session, 'clients')).map((row) => [String(row['id']), row]));
  for (const [id, { after }] of latest) {
    const row = rows.get(id);
    expect(row?.['_deleted_at'] === null ? row['_raw'] : null, id).toBe(after);
  }
}

/** Every id that a landed response showed is a row. */
async function expectWholePages(session: Session): Promise<void> {
  for (const name of NAMES) {
    const held = new Set((await rowsOf(session, name)).map((row) => String(row['id'])));
    for (const { ids } of await session.query(sql`select ids from sightings where kind = ${name}`)) {
      const shown = (JSON.parse(String(ids)) as number[]).map(String);
      expect(shown.filter((id) => !held.has(id))).toEqual([]);
    }
  }
}

test('killed anywhere between adding columns and filling them: the next pull fills them', async () => {
  const service = await sandbox({ size: 10 });
  const kinds = kindsNamed('vehicle_brands');
  const pullAs = (name: string, session: Session): Promise<PullReport> =>
    pullFrom(service, session, { parts: { owner: deadOwner(name) }, request: { kinds } });
  const whole = await documentedMirror();
  await pullAs('whole', whole);
  const expected = await filled(whole);
  let halves = 0;
  for (let n = 15; n < 200; n++) {
    const session = await documentedMirror();
    if (!(await dies(pullAs('first', dyingAt(session, n))))) break;
    const hasColumns = (await session.atomically((tx) => tx.listColumns('bi_vehicle_brands'))).size > 3;
    if (!hasColumns || (await filled(session)) === expected) continue;
    halves++;
    await pullAs('second', session);
    expect(await filled(session)).toBe(expected);
  }
  expect(halves).toBeGreaterThan(2);

  async function filled(session: Session): Promise<string> {
    return JSON.stringify(await session.query(sql`select * from bi_vehicle_brands order by id`));
  }
});

test('a backfill that is killed at any operation is completed by the same request', async () => {
  const kind = 'clients';
  const service = await sandbox({ size: 330 });
  const session = await documentedMirror();
  await pullOne(service, session, { kind });
  const backfillAs = (name: string, from: Session): Promise<BackfillReport> =>
    backfillFrom(service, from, { kind, extent: ALL, parts: { owner: deadOwner(name) } });
  let died = 0;
  for (let n = 1; ; n += STRIDE) {
    for (const id of service.world.ids(kind)) service.world.update(kind, id, { city: `V${n}` });
    if (!(await dies(backfillAs('first', dyingAt(session, n))))) break;
    died++;
    expect(await backfillAs('second', session)).toMatchObject({ state: 'complete' });
    expect((await contentOf(session))[kind]).toEqual(truthOf(service)[kind]);
    expect(await eventsOf(session)).toHaveLength(330 * died);
  }
  expect(died).toBeGreaterThan(8);
});
