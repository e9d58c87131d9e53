import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { documentedKind } from '../../../src/catalog/kinds/catalog.ts';
import { isListed, type ListedKind } from '../../../src/catalog/kind.ts';
import type { Row, Session } from '../../../src/db/session/session.ts';
import {
  createSinglePageReader,
  type SinglePageResult,
} from '../../../src/pull/freshness/read-single-page.ts';
import type { PullParts } from '../../../src/pull/parts.ts';
import { pullKinds } from '../../../src/pull/sweep/pull-kinds.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import {
  ONE_DATABASE,
  MIRRORS,
  clockAt,
  eventsOf,
  kindState,
  kindsNamed,
  newRequests,
  pullOne,
} from '../steps.ts';
import { RULES, sandbox } from '../support.ts';
import { partsOf } from './reading.ts';

const KIND = 'clients';

function listed(name: string): ListedKind {
  const kind = documentedKind(name);
  if (kind === undefined || !isListed(kind)) throw new TypeError(`The catalogue lists no ${name}.`);
  return kind;
}

interface Reads {
  readonly kind?: string;
  readonly page?: number;
  readonly minute?: number;
  readonly parts?: Partial<PullParts>;
}

const readPage = (service: Sandbox, session: Session, reads: Reads = {}): Promise<SinglePageResult> => {
  const { kind = KIND, page = 1, minute = 1, parts } = reads;
  const own = partsOf({ service, session, clock: clockAt(minute), ...(parts && { parts }) });
  return createSinglePageReader(own, { baseUrl: service.url, rules: RULES })(listed(kind), page);
};

const sightingsBetween = (session: Session): Promise<Row[]> =>
  session.query(sql`select page, rows, end_rows, sweep from sightings where sweep is null order by answered`);

describe.each(ONE_DATABASE)('a page read between sweeps, in %s', (name) => {
  test('lands as any page: its row, its event with both instants, a sighting that proves no end', async () => {
    const service = await sandbox({ size: 250 });
    const session = await MIRRORS[name]();
    await pullOne(service, session, { kind: KIND });
    const before = await kindState(session, KIND);
    const [id = 0] = service.world.slice(KIND, 120, 121);
    service.world.update(KIND, id, { name: 'Renamed' });
    const requests = newRequests(service);

    expect(await readPage(service, session, { page: 2 })).toEqual({ is: 'landed', found: 1 });

    expect(requests()).toEqual(['/api/clients?page=2&per_page=100']);
    expect(await eventsOf(session)).toMatchObject([
      { record_id: String(id), change: 'updated', observed_from: before['certified_at'], run_id: null },
    ]);
    expect(await sightingsBetween(session)).toEqual([{ page: 2, rows: 100, end_rows: null, sweep: null }]);
    expect(await kindState(session, KIND)).toEqual(before);
    expect((await pullOne(service, session, { kind: KIND, minute: 2 })).state).toBe('certified');
    expect(await eventsOf(session)).toHaveLength(1);
  });
});

describe.each(ONE_DATABASE)('a page read between sweeps, in %s', (name) => {
  test('a record that it does not show stays, until a sweep proves that it is gone', async () => {
    const service = await sandbox({ size: 150 });
    const session = await MIRRORS[name]();
    await pullOne(service, session, { kind: KIND });
    const [id = 0] = service.world.slice(KIND, 20, 21);
    service.world.remove(KIND, id);

    await readPage(service, session);
    await readPage(service, session, { page: 2 });

    expect((await eventsOf(session)).filter(({ change }) => change === 'deleted')).toEqual([]);
    expect(await session.query(sql`select record_id from deletions`)).toEqual([]);
    await pullOne(service, session, { kind: KIND, minute: 2 });
    await pullOne(service, session, { kind: KIND, minute: 30 });
    expect(await eventsOf(session)).toMatchObject([{ record_id: String(id), change: 'deleted' }]);
  });

  test('of a reading that a sweep overtakes, nothing lands, and the sweep finds all', async () => {
    const service = await sandbox({ size: 150 });
    const session = await MIRRORS[name]();
    await pullOne(service, session, { kind: KIND });
    const [id = 0] = service.world.slice(KIND, 0, 1);
    service.world.update(KIND, id, { name: 'Renamed' });
    const own = partsOf({ service, session, clock: clockAt(1) });
    const other = partsOf({ service, session, clock: clockAt(1), name: 'other' });
    const source: PullParts['source'] = {
      ...own.source,
      async *pages(kind, range, options) {
        for await (const response of own.source.pages(kind, range, options)) {
          const request = { kinds: kindsNamed(KIND), baseUrl: service.url, acceptNewSource: false, ...RULES };
          expect((await pullKinds(other, request)).kinds).toMatchObject([{ state: 'certified', updated: 1 }]);
          yield response;
        }
      },
    };

    expect(await readPage(service, session, { parts: { source } })).toEqual({ is: 'overtaken' });

    expect(await sightingsBetween(session)).toEqual([]);
    expect(await eventsOf(session)).toHaveLength(1);
    expect(await kindState(session, KIND)).toMatchObject({
      state: 'certified',
      owner: null,
      complete_sweeps: 2,
    });
  });
});

test('a page with the bytes that it had is not parsed, and the next sweep does not parse it either', async () => {
  const service = await sandbox({ size: 150 });
  const session = await MIRRORS.SQLite();
  await pullOne(service, session, { kind: KIND });
  const digests = () => session.query(sql`select page, digest, response from pages order by page`);
  const before = await digests();
  const own = partsOf({ service, session, clock: clockAt(1) });
  const isKnown: boolean[] = [];
  const source: PullParts['source'] = {
    ...own.source,
    async *pages(kind, range, options) {
      for await (const response of own.source.pages(kind, range, options)) {
        isKnown.push(response.isUnchanged);
        yield response;
      }
    },
  };
  expect(await readPage(service, session, { parts: { source } })).toEqual({ is: 'landed', found: 0 });
  expect(isKnown).toEqual([true]);
  expect(await digests()).toEqual(before);
});

test('a list without a baseline is not read', async () => {
  const service = await sandbox({ size: 150 });
  const session = await MIRRORS.SQLite();
  const requests = newRequests(service);
  expect(await readPage(service, session)).toEqual({ is: 'not begun' });
  expect(requests()).toEqual([]);
});

test('a refused request is not repeated, and what the service asked for is told', async () => {
  const service = await sandbox({ size: 150 });
  const session = await MIRRORS.SQLite();
  await pullOne(service, session, { kind: KIND });
  service.setFaults([{ do: { status: 429, retryAfter: '7' } }]);
  const requests = newRequests(service);
  const refused = { is: 'failed', reason: 'rate_limited', waitMs: 7000 };
  expect(await readPage(service, session)).toEqual(refused);
  expect(requests()).toHaveLength(1);
  expect(await kindState(session, KIND)).toMatchObject({ state: 'certified', owner: null });
});

test('a page of another company does not land', async () => {
  const service = await sandbox({ size: 150 });
  const session = await MIRRORS.SQLite();
  await pullOne(service, session, { kind: KIND });
  const other = await sandbox({ size: 150, systemId: 8 });
  const foreign = { ...other, url: service.url };
  const own = partsOf({ service: other, session, clock: clockAt(1) });
  expect(await readPage(foreign, session, { parts: { source: own.source } })).toMatchObject({
    is: 'failed',
    reason: 'other_source',
  });
  expect(await eventsOf(session)).toEqual([]);
});
