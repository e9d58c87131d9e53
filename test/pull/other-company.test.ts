import { sql } from 'drizzle-orm';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { OtherSourceError } from '../../src/db/session/errors.ts';
import { compactJson } from '../../src/lib/json/json.ts';
import { send, serve } from '../support/serve.ts';
import { endLeases } from '../support/lapse.ts';
import { claimKind } from '../../src/store/kinds/kind-lease.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { sourceWithTokens } from './other-tokens.ts';
import { mirror, openSandboxSource, pullFrom, liveIds, rewriting, rowsOf, sandbox } from './support.ts';
import { clockAt, eventsOf, kindState, pullOne, shortEvents, watched } from './steps.ts';

const kind = 'clients';

const liveCount = async (session: Session, of = kind): Promise<number> => (await liveIds(session, of)).length;

test('another company in the middle of a sweep lands nothing of its own, and the list concludes nothing', async () => {
  const ours = await sandbox({ size: 260, systemId: 7 });
  const theirs = await sandbox({ size: 260, systemId: 8 });
  const session = await mirror();
  const name = 'purchase_products';
  await pullOne(ours, session, { kind: name });
  const page2 = JSON.stringify({
    data: theirs.world.slice(name, 500, 520).map((id) => theirs.world.get(name, id)),
    meta: { current_page: 2, last_page: 2, per_page: 500, total: 520 },
    success: true,
  });
  const mixed = await rewriting(ours, (body, path) => (path.includes('page=2') ? page2 : body));

  for (const minute of [20, 40])
    await expect(pullOne(mixed, session, { kind: name, minute, baseUrl: ours.url })).rejects.toThrow(
      OtherSourceError,
    );

  expect(await liveCount(session, name)).toBe(520);
  expect(await kindState(session, name)).toMatchObject({
    owner: null,
    state: 'invalid',
    reason: 'other_source',
  });
  expect(await eventsOf(session)).toEqual([]);
  expect(await pullOne(ours, session, { kind: name, minute: 60 })).toMatchObject({
    state: 'certified',
    deleted: 0,
  });
});

describe('a token that changes in the middle of a sweep', () => {
  /** The first request of a sweep bears the token of one user, all later ones that of another, whom the service shows `second`. */
  async function changed(second: Sandbox, ours: Sandbox, session: Session) {
    let answered = 0;
    const url = await serve((incoming, answer) => {
      answered += 1;
      const { url: behind, token } = answered > 1 ? second : ours;
      void request(behind + (incoming.url ?? ''), { headers: { authorization: `Bearer ${token}` } }).then(
        async ({ statusCode, body }) => {
          send(answer, await body.text(), statusCode);
        },
      );
    });
    const source = sourceWithTokens({ url, token: ours.token }, 20, () => (answered < 1 ? 'ada' : 'eve'));
    const pull = pullOne({ ...ours, url }, session, {
      kind,
      minute: 20,
      baseUrl: ours.url,
      parts: { source },
    });
    return await pull.finally(() => source.close());
  }

  test('to one of another company lands nothing of it', async () => {
    const ours = await sandbox({ size: 260, systemId: 7 });
    const session = await mirror();
    for (const name of ['departments', kind]) await pullOne(ours, session, { kind: name });
    const theirs = await sandbox({ size: 260, systemId: 8 });
    await expect(changed(theirs, ours, session)).rejects.toThrow(OtherSourceError);
    expect(await liveCount(session)).toBe(260);
    expect(await eventsOf(session)).toEqual([]);
  });

  test('to another user’s of the same company lands all, new records too', async () => {
    const ours = await sandbox({ size: 260, systemId: 7 });
    const session = await mirror();
    for (const name of ['departments', kind]) await pullOne(ours, session, { kind: name });
    for (let n = 0; n < 130; n++) ours.world.insert(kind, { code: `ZZ-${n}`, name: 'Nouveau' });
    expect(await changed(ours, ours, session)).toMatchObject({ reason: 'two_tokens', created: 130 });
  });
});

describe('a lease that is lost while deletions are concluded', () => {
  /** Somebody else takes the kind as soon as a single record is asked for. */
  async function losing(service: Sandbox, session: Session, minute: number) {
    const honest = openSandboxSource(service, clockAt(minute));
    const source = {
      ...honest,
      retrieve: async (...asked: Parameters<typeof honest.retrieve>) => {
        const answer = await honest.retrieve(...asked);
        await endLeases(session);
        await claimKind(session, kind, 'other');
        return answer;
      },
    };
    return await pullOne(service, session, { kind, minute, parts: { source } });
  }

  test.each([20, 40])(
    'at the look of minute %i: no tombstone, no mark, and the new owner stays',
    async (lost) => {
      const service = await sandbox({ size: 130 });
      const session = await mirror();
      await pullOne(service, session, { kind });
      service.world.remove(kind, service.world.ids(kind)[0] ?? 0);
      if (lost > 20) await pullOne(service, session, { kind, minute: 20 });
      const marks = sql`select state, struck_at, concluded_at from deletions`;
      const before = await session.query(marks);

      const report = await losing(service, session, lost);

      expect(report).toMatchObject({ state: 'busy', reason: 'busy', deleted: 0 });
      expect(await kindState(session, kind)).toMatchObject({ owner: 'other' });
      expect(await eventsOf(session)).toEqual([]);
      expect(await liveCount(session)).toBe(130);
      if (lost > 20) expect(await session.query(marks)).toEqual(before);
      else
        expect(await session.query(marks)).toEqual([
          { state: 'suspected', struck_at: null, concluded_at: null },
        ]);
    },
  );
});

describe('a source that is accepted as new', () => {
  test("the old company's rows are held, never deleted on their own; what the old one showed is forgotten", async () => {
    const ours = await sandbox({ systemId: 7 });
    const theirs = await sandbox({ systemId: 8 });
    const session = await mirror();
    for (const minute of [0, 10]) await pullFrom(ours, session, { parts: { clock: clockAt(minute) } });
    await session.atomically((tx) => tx.query(sql`update kind_state set control_failures = 3`));

    const first = await pullFrom(theirs, session, {
      parts: { clock: clockAt(20) },
      request: { acceptNewSource: true },
    });
    for (const minute of [40, 60, 80]) await pullFrom(theirs, session, { parts: { clock: clockAt(minute) } });

    expect(first.kinds.every(({ certifiedAt }) => certifiedAt !== null)).toBe(true);
    expect(await eventsOf(session)).toEqual([]);
    const held = await session.query(
      sql`select kind, state, count(*) as n from deletions group by kind, state`,
    );
    expect(held.map((row) => row['state'])).toEqual(LISTED_KINDS.map(() => 'held'));
    for (const { name } of LISTED_KINDS) {
      expect(await liveCount(session, name)).toBe(ours.world.count(name) + theirs.world.count(name));
      expect(await kindState(session, name), name).toMatchObject({ complete_sweeps: 4, control_failures: 0 });
    }
  });

  test('a page that has the bytes of an old page is parsed: its rows may be others by now', async () => {
    const ours = await sandbox({ size: 260 });
    const session = await mirror();
    await pullOne(ours, session, { kind });
    const { source, parsed } = watched(ours, 10);
    const moved = await rewriting(ours, (body) => body);
    const report = await pullOne(ours, session, {
      kind,
      minute: 10,
      parts: { source },
      baseUrl: moved.url,
      acceptNewSource: true,
    });
    await source.close();

    expect(new Set(parsed)).toEqual(new Set([1, 2, 3, 4]));
    expect(report).toMatchObject({ state: 'certified', created: 0, unchanged: 260 });
    expect(await shortEvents(session)).toEqual([]);
    expect((await rowsOf(session, kind)).map((row) => row['_raw'])).toEqual(
      [...ours.world.ids(kind)]
        .sort((a, b) => a - b)
        .map((id) => compactJson(ours.world.get(kind, id) ?? null)),
    );
  });
});
