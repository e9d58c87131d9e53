import { describe, expect, test } from 'vitest';
import type { Session } from '../../../src/db/session/session.ts';
import { readDisappeared } from '../../../src/store/records/deletion-store.ts';
import { doTokensRotate } from '../../../src/pull/token-holders.ts';
import { readTexts } from '../../../src/db/rows/rows.ts';
import { sql } from 'drizzle-orm';
import type { JsonObject } from '../../../src/lib/json/json.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { createSinglePageReader } from '../../../src/pull/freshness/read-single-page.ts';
import { partsOf } from '../freshness/reading.ts';
import { sourceWithTokens } from '../other-tokens.ts';
import { MIRRORS, NOON, ONE_DATABASE, clockAt, kindsNamed, pullOne } from '../steps.ts';
import { RULES, sandbox } from '../support.ts';

const kind = 'clients';
const DAY = 24 * 60;

/** A token as a login service makes it: another one each time, for the same user. */
function jwt(subject: string, issuedAt: number, scopes = ['*']): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return [
    part({ alg: 'RS256' }),
    part({ sub: subject, scopes, iat: issuedAt, jti: `${issuedAt}` }),
    'c2lnbmF0dXJl',
  ].join('.');
}

async function pulled(database: keyof typeof MIRRORS, token: string) {
  const service = await sandbox({ size: 260 });
  const session = await MIRRORS[database]();
  const pull = pulling(service, session);
  await pull(0, token);
  return { service, session, pull };
}

const pulling =
  (service: Sandbox, session: Session) => async (minute: number, token: string | (() => string)) => {
    const source = sourceWithTokens(service, minute, typeof token === 'string' ? () => token : token);
    const report = await pullOne(service, session, { kind, minute, parts: { source } });
    await source.close();
    return report;
  };

/** Takes records away, as from a user who may not see them; returns what shows them again. */
function hide({ world }: Sandbox, count: number): () => void {
  const hidden = world.ids(kind).slice(3, 3 + count);
  const records = hidden.map((id): JsonObject => ({ ...world.get(kind, id) }));
  for (const id of hidden) world.remove(kind, id);
  return () => {
    for (const record of records) world.insert(kind, record);
  };
}

const liveRows = async (session: Session) =>
  Number((await readTexts(session, sql`select count(*) from clients where _deleted_at is null`))[0]);

describe.each(ONE_DATABASE)('rows that another user’s token does not show, in %s,', (database) => {
  test('are held, however few, and are there again under the first one', async () => {
    const { service, session, pull } = await pulled(database, 'ada');
    const show = hide(service, 1);
    for (const minute of [20, 40, 60, 80]) expect(await pull(minute, 'bea')).toMatchObject({ deleted: 0 });
    expect(await readDisappeared(session)).toMatchObject([{ state: 'held', records: 1, why: 'rights' }]);
    show();
    expect(await pull(100, 'ada')).toMatchObject({ state: 'certified', deleted: 0 });
    expect(await liveRows(session)).toBe(260);
  });

  test('are held again after the first one has read the list', async () => {
    const { service, session, pull } = await pulled(database, 'ada');
    const show = hide(service, 1);
    for (const minute of [20, 40]) await pull(minute, 'bea');
    show();
    await pull(60, 'ada');
    hide(service, 1);
    for (const minute of [80, 100, 120]) await pull(minute, 'bea');
    expect(await readDisappeared(session)).toMatchObject([{ state: 'held', records: 1, why: 'rights' }]);
    expect(await liveRows(session)).toBe(260);
  });

  test('are held again after a sweep of both', async () => {
    const { service, session, pull } = await pulled(database, 'ada');
    const show = hide(service, 1);
    for (const minute of [20, 40]) await pull(minute, 'bea');
    show();
    let asked = 0;
    await pull(60, () => (asked++ < 6 ? 'ada' : 'bea'));
    await pull(80, 'bea');
    hide(service, 1);
    for (const minute of [100, 120, 140]) await pull(minute, 'bea');
    expect(await liveRows(session)).toBe(259); // Shown to bea herself since: it has left.
  });

  test('are held again after pages that were read between sweeps under the first one', async () => {
    const { service, session, pull } = await pulled(database, 'ada');
    const show = hide(service, 1);
    for (const minute of [20, 40]) await pull(minute, 'bea');
    show();
    const source = sourceWithTokens(service, 50, () => 'ada');
    const parts = partsOf({ service, session, clock: clockAt(50), parts: { source } });
    const readPage = createSinglePageReader(parts, { baseUrl: service.url, rules: RULES });
    const [clients] = kindsNamed(kind);
    for (const page of [1, 2, 3]) expect(clients && (await readPage(clients, page)).is).toBe('landed');
    await source.close();
    hide(service, 1);
    for (const minute of [60, 80, 100, 120]) await pull(minute, 'bea');
    expect(await readDisappeared(session)).toMatchObject([{ state: 'held', records: 1, why: 'rights' }]);
    expect(await liveRows(session)).toBe(260);
  });

  test('are deleted by the ordinary rules where they left later', async () => {
    const { service, session, pull } = await pulled(database, 'ada');
    await pull(20, 'bea');
    hide(service, 1);
    for (const minute of [40, 60, 80]) await pull(minute, 'bea');
    expect(await liveRows(session)).toBe(259);
  });
});

describe.each(ONE_DATABASE)('a token, in %s,', (database) => {
  test('of the same user is no other one: a JWT names the user', async () => {
    const { service, session, pull } = await pulled(database, jwt('42', 1));
    hide(service, 1);
    for (const minute of [20, 40, 60]) await pull(minute, jwt('42', minute));
    expect(await liveRows(session)).toBe(259);
  });

  test('of the same user with other scopes is another one', async () => {
    const { service, session, pull } = await pulled(database, jwt('42', 1));
    hide(service, 1);
    for (const minute of [20, 40, 60]) await pull(minute, jwt('42', minute, ['clients:mine']));
    expect(await readDisappeared(session)).toMatchObject([{ state: 'held', records: 1, why: 'rights' }]);
    expect(await liveRows(session)).toBe(260);
  });

  test('that is changed in the middle of a sweep lets it conclude nothing', async () => {
    const { service, session, pull } = await pulled(database, 'ada');
    await pull(20, 'bea');
    hide(service, 1);
    for (const minute of [40, 60, 80]) {
      let asked = 0;
      const report = await pull(minute, () => (asked++ < 6 ? 'ada' : 'bea'));
      expect(report).toMatchObject({ state: 'complete', reason: 'two_tokens', deleted: 0 });
    }
    expect(await readDisappeared(session)).toEqual([]);
    expect(await liveRows(session)).toBe(260);
  });

  test('that is a new one three times in a week rotates: the rule rests', async () => {
    const { service, session, pull } = await pulled(database, 'day 0');
    for (const day of [1, 2, 3]) await pull(day * DAY, `day ${day}`);
    expect(await doTokensRotate(session, new Date(NOON + 3 * DAY * 60_000))).toBe(true);
    hide(service, 1);
    for (const day of [4, 5, 6]) await pull(day * DAY, `day ${day}`);
    expect(await liveRows(session)).toBe(259);
  });

  test('is stored nowhere', async () => {
    const { session } = await pulled(database, 'ada-secret');
    const kept = await readTexts(session, sql`select value from mirror_meta where key = 'holders.clients'`);
    expect(kept.join()).not.toContain('ada');
    expect(kept.join()).toMatch(/"holder":"[0-9a-f]{16}"/);
  });
});
