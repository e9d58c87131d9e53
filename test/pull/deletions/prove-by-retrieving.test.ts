import { PassThrough } from 'node:stream';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { createLogger } from '../../../src/lib/log/logger.ts';
import type { Session } from '../../../src/db/session/session.ts';
import type { PullParts } from '../../../src/pull/run/parts.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { SourceError } from '../../../src/source/http/errors.ts';
import type { Source } from '../../../src/source/source.ts';
import { mirror, openSandboxSource, sandbox } from '../support.ts';
import {
  DATABASES,
  ONE_DATABASE,
  MIRRORS,
  absencesOf,
  clockAt,
  newRequests,
  pullOne,
  removeFirst,
  shortEvents,
} from '../steps.ts';

const AN_HOUR = {
  deletions: { graceSeconds: 900, holdAbove: { rows: 5, share: 0.02 }, releaseHeldAfterHours: 1 },
};

/** A mirror whose service has lost twelve records before minute 20, and what pulls it. */
async function twelveGone(open: () => Promise<Session> = mirror, kind = 'clients', size = 60) {
  const service = await sandbox({ size });
  const session = await open();
  const pull = (minute: number, parts: Partial<PullParts> = {}) =>
    pullOne(service, session, { kind, minute, parts, rules: AN_HOUR });
  await pull(0);
  const ids = service.world.ids(kind).slice(1, 13); // The oldest stays: this is not a list of recent rows.
  const gone = ids.map((id) => service.world.get(kind, id) ?? {});
  for (const id of ids) service.world.remove(kind, id);
  await pull(20);
  return { service, session, pull, gone };
}

/** How many records are in each state. */
async function statesOf(session: Session): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const absence of await absencesOf(session)) {
    const state = absence.split(' ').slice(1).join(' ');
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

function answering(service: Sandbox, minute: number, retrieve: Source['retrieve']): Partial<PullParts> {
  return { source: { ...openSandboxSource(service, clockAt(minute)), retrieve } };
}

describe.each(DATABASES)('%s', (database) => {
  test('a hold that nothing speaks against goes on to its proof once its time is over, and the log says so', async () => {
    const { service, session, pull } = await twelveGone(MIRRORS[database]);
    const lines = new PassThrough();
    const logger = createLogger({ level: 'warn', secrets: [], destination: lines });
    const asked = newRequests(service);
    for (const minute of [40, 60, 79]) await pull(minute, { logger });
    expect(await statesOf(session)).toEqual({ held: 12 });
    expect(asked().filter((path) => /clients\/\d+$/.test(path))).toHaveLength(3 * (12 + 2));
    expect(lines.read()).toBeNull();

    expect(await pull(80, { logger })).toMatchObject({ deleted: 0 });
    expect(await statesOf(session)).toEqual({ released: 12 });
    expect(JSON.parse(String(lines.read()))).toMatchObject({
      event: 'kind.released',
      kind: 'clients',
      records: 12,
      heldSince: '2026-03-01 12:20:00.000',
    });

    expect(await pull(100)).toMatchObject({ deleted: 12 });
    expect(await statesOf(session)).toEqual({ 'deleted retrieve': 12 });
    expect(await shortEvents(session)).toHaveLength(12);
  });
});

describe.each(ONE_DATABASE)('%s', (database) => {
  test('where only the list can tell, certified sweeps are what speaks for it', async () => {
    const { session, pull } = await twelveGone(MIRRORS[database], 'punches', 62);
    for (const minute of [40, 60]) await pull(minute);
    expect(await statesOf(session)).toEqual({ held: 12 });
    await pull(80);
    expect(await statesOf(session)).toEqual({ released: 12 });
    await pull(100);
    expect(await statesOf(session)).toEqual({ 'deleted list': 12 });
  });
});

describe('the clock of a hold starts anew', () => {
  test('where one of its records is listed again', async () => {
    const { service, session, pull, gone } = await twelveGone();
    service.world.insert('clients', gone[0] ?? {});
    for (const minute of [60, 80, 119]) await pull(minute);
    expect(await statesOf(session)).toEqual({ held: 11 });
    await pull(120);
    expect(await statesOf(session)).toEqual({ released: 11 });
  });

  test('where the path of one finds it', async () => {
    const { service, session, pull, gone } = await twelveGone();
    const honest = openSandboxSource(service, clockAt(60));
    const id = String(Number(gone[3]?.['id']));
    await pull(
      60,
      answering(service, 60, async (kind, asked, options) => {
        const answer = await honest.retrieve(kind, asked, options);
        return asked === id ? { ...answer, record: gone[3] ?? null } : answer;
      }),
    );
    expect(await statesOf(session)).toEqual({ held: 11, unlisted: 1 });
    for (const minute of [80, 100]) await pull(minute);
    expect((await statesOf(session))['released']).toBeUndefined();
  });
});

test.each<[string, (id: string, control: string) => boolean]>([
  ['a held record', (id, control) => id !== control],
  ['the control', () => true],
])('without an answer for %s, nothing is released, and no time is lost', async (_name, isSilent) => {
  const { service, session, pull } = await twelveGone();
  const honest = openSandboxSource(service, clockAt(80));
  let control: string | null = null;
  await pull(
    80,
    answering(service, 80, (kind, id, options) => {
      control ??= id;
      if (!isSilent(id, control)) return honest.retrieve(kind, id, options);
      return Promise.reject(new SourceError('unavailable', 'GET /api/clients/1: got status 500'));
    }),
  );
  expect(await statesOf(session)).toEqual({ held: 12 });
  await pull(85);
  expect(await statesOf(session)).toEqual({ released: 12 });
});

test('of thousands, twenty are asked for in each sweep, in turn', async () => {
  const service = await sandbox({ size: 130 });
  const session = await mirror();
  const pull = (minute: number) => pullOne(service, session, { kind: 'clients', minute, rules: AN_HOUR });
  await pull(0);
  removeFirst(service, 'clients', 50);
  const asked = newRequests(service);
  for (const minute of [20, 40, 60]) await pull(minute);

  expect(asked().filter((path) => /clients\/\d+$/.test(path))).toHaveLength(3 * (20 + 2));
  const [never] = await session.query(sql`select count(*) as some from deletions where struck_at is null`);
  expect(Number(never?.['some'])).toBe(0);
});
