import { sql, type SQL } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json/json.ts';
import type { Session } from '../../src/db/session/session.ts';
import { openSandboxSource, mirror, rowsOf, sandbox } from './support.ts';
import {
  ONE_DATABASE,
  MIRRORS,
  absencesOf,
  clockAt,
  kindState,
  newRequests,
  openIssueCodes,
  pullOne,
  shortEvents,
} from './steps.ts';
import type { Fault } from '../../sandbox/faults.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { SourceError } from '../../src/source/http/errors.ts';
import type { Source } from '../../src/source/source.ts';

const kind = 'clients';

const sqlOf = (id: number): SQL =>
  sql`select state, struck_at from deletions where record_id = ${String(id)}`;

interface Scene {
  readonly service: Sandbox;
  readonly session: Session;
  readonly gone: number;
  readonly record: JsonObject;
}

/** A mirror whose service has just lost one record. */
async function oneGone(open: () => Promise<Session> = mirror): Promise<Scene> {
  const service = await sandbox({ size: 130 });
  const session = await open();
  await pullOne(service, session, { kind });
  const gone = service.world.ids(kind)[7] ?? 0;
  const record = service.world.get(kind, gone) ?? {};
  service.world.remove(kind, gone);
  return { service, session, gone, record };
}

/** A source whose answers about single records a test makes up. */
function retrieving(service: Sandbox, minute: number, retrieve: Source['retrieve']): Source {
  return { ...openSandboxSource(service, clockAt(minute)), retrieve };
}

/** A source that finds a record by its path, whatever the list says. */
function finding(service: Sandbox, minute: number, record: JsonObject): Source {
  const honest = openSandboxSource(service, clockAt(minute));
  return retrieving(service, minute, (asked, id, options) =>
    Number(id) === Number(record['id'])
      ? Promise.resolve({ record, sent: options?.tick?.() ?? 0, answered: options?.tick?.() ?? 0 })
      : honest.retrieve(asked, id, options),
  );
}

const FAILURES: readonly [string, () => Error][] = [
  ['a 500', () => new SourceError('unavailable', 'GET /api/clients/1: got status 500')],
  ['a 404 that is a web page', () => new SourceError('not_found', 'GET /api/clients/1: got status 404')],
  ['a 403', () => new SourceError('forbidden', 'GET /api/clients/1: got status 403')],
  ['another record', () => new SourceError('wrong_record', 'GET /api/clients/1: got another')],
];

describe.each(ONE_DATABASE)('%s', (database) => {
  test('a record that its path finds is unlisted, never deleted, and all is forgotten once it is listed again', async () => {
    const { service, session, gone, record } = await oneGone(MIRRORS[database]);
    for (let minute = 20; minute <= 200; minute += 20) {
      const source = finding(service, minute, record);
      await pullOne(service, session, { kind, minute, parts: { source } });
    }

    expect(await absencesOf(session)).toEqual([`${gone} unlisted`]);
    expect(await shortEvents(session)).toEqual([]);

    service.world.insert(kind, record);
    await pullOne(service, session, { kind, minute: 220 });
    expect(await absencesOf(session)).toEqual([]);
    expect((await rowsOf(session, kind)).every((row) => row['_deleted_at'] === null)).toBe(true);
  });
});

describe.each(ONE_DATABASE)('%s', (database) => {
  test('both looks stand between looks at a record that the list shows', async () => {
    const { service, session, gone } = await oneGone(MIRRORS[database]);
    const asked = newRequests(service);
    const looks = (): string[] => asked().filter((path) => /clients\/\d+$/.test(path));

    await pullOne(service, session, { kind, minute: 20 });
    const first = looks();
    await pullOne(service, session, { kind, minute: 30 });
    const between = looks();
    await pullOne(service, session, { kind, minute: 36 });
    const second = looks();

    expect(between).toEqual([]);
    for (const [control = '', candidate, after] of [first, second]) {
      expect(candidate).toBe(`/api/clients/${gone}`);
      expect(after).toBe(control);
      expect(service.world.get(kind, Number(control.split('/').at(-1)))).toBeDefined();
    }
    expect([first.length, second.length]).toEqual([3, 3]);
    expect(await shortEvents(session)).toEqual([`${gone} deleted`]);
  });
});

test('an unlisted record that then goes needs two looks of its own', async () => {
  const { service, session, gone, record } = await oneGone();
  for (const minute of [20, 40])
    await pullOne(service, session, { kind, minute, parts: { source: finding(service, minute, record) } });

  expect(await pullOne(service, session, { kind, minute: 60 })).toMatchObject({ deleted: 0 });
  expect(await absencesOf(session)).toEqual([`${gone} suspected`]);
  expect(await pullOne(service, session, { kind, minute: 80 })).toMatchObject({ deleted: 1 });
});

test.each(FAILURES)('%s for the record in question is no evidence', async (_, failure) => {
  const { service, session, gone } = await oneGone();
  for (const minute of [20, 40, 60, 80, 100]) {
    const honest = openSandboxSource(service, clockAt(minute));
    const source = retrieving(service, minute, (asked, id, options) =>
      id === String(gone) ? Promise.reject(failure()) : honest.retrieve(asked, id, options),
    );
    expect(await pullOne(service, session, { kind, minute, parts: { source } })).toMatchObject({
      reason: 'absences_unproven',
      deleted: 0,
    });
  }
  expect(await absencesOf(session)).toEqual([`${gone} suspected`]);
  expect(await openIssueCodes(session)).toEqual([]);
  expect(await kindState(session, kind)).toMatchObject({ control_failures: 0 });
});

/** A source that changes every single-record answer. */
function broken(service: Sandbox, minute: number, action: Fault['do']): Source {
  return retrieving(service, minute, async (asked, id, options) => {
    service.setFaults([{ on: { kind }, do: action }]);
    try {
      return await openSandboxSource(service, clockAt(minute)).retrieve(asked, id, options);
    } finally {
      service.setFaults([]);
    }
  });
}

test.each<Fault['do']>([
  { status: 500 },
  { status: 404, body: '<html>not found</html>' },
  { refuse: true },
  { status: 404 },
])(
  'where the control gets %j, nothing is concluded; after three sweeps the list is the proof',
  async (action) => {
    const { service, session, gone } = await oneGone();
    const pullBroken = (minute: number): Promise<unknown> =>
      pullOne(service, session, { kind, minute, parts: { source: broken(service, minute, action) } });
    for (const [index, minute] of [20, 40, 60].entries()) {
      expect(await pullBroken(minute)).toMatchObject({ deleted: 0 });
      expect(await kindState(session, kind)).toMatchObject({ control_failures: index + 1 });
    }
    expect(await openIssueCodes(session)).toEqual(['retrieve_unusable']);
    expect(await shortEvents(session)).toEqual([]);

    await pullBroken(80);
    expect(await absencesOf(session)).toEqual([`${gone} deleted list`]);
    expect(await openIssueCodes(session)).toEqual(['retrieve_unusable']);
  },
);

test('a path that works again proves again, and its issue is over', async () => {
  const { service, session, gone } = await oneGone();
  for (const minute of [10, 20, 30]) {
    const source = broken(service, minute, { status: 500 });
    await pullOne(service, session, { kind, minute, parts: { source } });
  }
  for (const minute of [40, 60]) await pullOne(service, session, { kind, minute });

  expect(await absencesOf(session)).toEqual([`${gone} deleted retrieve`]);
  expect(await openIssueCodes(session)).toEqual([]);
  expect(await kindState(session, kind)).toMatchObject({ control_failures: 0 });
});

test('Ctrl-C while records are asked for says nothing about the path', async () => {
  const { service, session } = await oneGone();
  for (const minute of [20, 40]) {
    const source = broken(service, minute, { status: 500 });
    await pullOne(service, session, { kind, minute, parts: { source } });
  }
  const stop = new AbortController();
  const honest = openSandboxSource(service, clockAt(60));
  const source = retrieving(service, 60, (...asked) => {
    stop.abort();
    return honest.retrieve(...asked);
  });
  await pullOne(service, session, { kind, minute: 60, parts: { source, signal: stop.signal } });

  expect(await kindState(session, kind)).toMatchObject({ control_failures: 2 });
  expect(await shortEvents(session)).toEqual([]);
});

test('a control that is gone by the second look makes that round worthless', async () => {
  const { service, session, gone } = await oneGone();
  const honest = openSandboxSource(service, clockAt(20));
  let looks = 0;
  const source = retrieving(service, 20, async (asked, id, options) => {
    if (id !== String(gone) && ++looks === 2) service.world.remove(kind, Number(id));
    return await honest.retrieve(asked, id, options);
  });

  await pullOne(service, session, { kind, minute: 20, parts: { source } });

  expect(await kindState(session, kind)).toMatchObject({ control_failures: 1 });
  const [row] = await session.query(sqlOf(gone));
  expect(row).toEqual({ state: 'suspected', struck_at: null });
  await pullOne(service, session, { kind, minute: 40 });
  expect(await kindState(session, kind)).toMatchObject({ control_failures: 0 });
});

test('many records are asked for some at a time, each time with a control', async () => {
  const service = await sandbox({ size: 360 });
  const session = await mirror();
  const rules = { deletions: { graceSeconds: 900, holdAbove: { rows: 1000, share: 1 } } };
  await pullOne(service, session, { kind });
  for (const id of service.world.ids(kind).slice(0, 110)) service.world.remove(kind, id);
  const asked = newRequests(service);

  await pullOne(service, session, { kind, minute: 20, rules });
  expect(asked().filter((path) => /clients\/\d+$/.test(path))).toHaveLength(110 + 4);
  await pullOne(service, session, { kind, minute: 40, rules });

  expect(await shortEvents(session)).toHaveLength(110);
});
