import { createServer } from 'node:http';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../src/db/session/session.ts';
import { DATABASES, mirrorIn } from '../events/support.ts';
import { sandbox } from '../pull/support.ts';
import { canary } from '../support/canary.ts';
import { listening } from '../support/listening.ts';
import { document, run, type Env } from '../support/command-line.ts';
import { bytesOf } from '../support/mirror-file.ts';
import { everythingIn } from '../support/whole-mirror.ts';

const NAME = 'Zénobie Quatrefages';
const PHONE = '514 555 0198';
const SPELLINGS = ['Quatrefages', 'quatrefages', '555 0198', 'QF-1'];
const PERSON = `{"code":"QF-1","name":"${NAME}"}`;

const found = (text: string): readonly string[] => SPELLINGS.filter((word) => text.includes(word));

/** An entry with an attempt, as the outbox leaves it. */
async function putEntry(
  session: Session,
  entry: { readonly key: string; readonly state: string; readonly payload: string; readonly answer?: string },
): Promise<void> {
  const { key, state, payload, answer = '' } = entry;
  await session.atomically(async (tx) => {
    const result = JSON.stringify({ status: 422, answer });
    await tx.query(sql`
      insert into outbox (idempotency_key, kind, operation, payload, state, natural_key, result, attempts)
      values (${key}, 'clients', 'create', ${payload}, ${state}, ${`[["code","\\"${key}\\""]]`}, ${result}, 1)`);
    await tx.query(sql`
      insert into outbox_attempts (outbox_id, n, opened_at, grade, request, response_start)
      select id, 1, created_at, 'rejected', ${`POST /api/clients\n${payload}`}, ${answer}
      from outbox where idempotency_key = ${key}`);
  });
}

/** A mirror with a client that was deleted at the service, and texts that have its content without naming it. */
async function stage(database: (typeof DATABASES)[number]) {
  const service = await sandbox({ size: 12 });
  const { url, session } = await mirrorIn(database);
  const env: Env = {
    BMS_BASE_URL: service.url,
    BMS_TOKEN: service.token,
    DATABASE_URL: url,
    BMS__DELETIONS__GRACE_SECONDS: '0',
  };
  const id = String(
    Number(service.world.insert('clients', { code: 'QF-1', name: NAME, phone: PHONE })['id']),
  );
  await run(['pull', 'clients'], env);
  service.world.remove('clients', Number(id));
  for (let pull = 0; pull < 4; pull++) await run(['pull', 'clients'], env);
  await putEntry(session, { key: 'refused', state: 'rejected', payload: PERSON });
  await putEntry(session, { key: 'by code', state: 'abandoned', payload: '{"code":"QF-1"}' });
  // Another spelling of the name, and PHP's escapes in the answer.
  await putEntry(session, {
    key: 'by phone',
    state: 'rejected',
    payload: `{"name":"ZENOBIE quatrefages.","phone":"(514) 555-0198"}`,
    answer: '{"message":"Z\\u00e9nobie quatrefages is there"}',
  });
  await putEntry(session, { key: 'other', state: 'rejected', payload: '{"code":"OTHER","city":"Montréal"}' });
  await session.atomically(async (tx) => {
    for (const text of [
      sql`insert into issues (kind, code, detail, first_seen_at)
        values ('clients', 'no_id', ${`{"name":"${NAME}","phone"`}, '2026-01-01 00:00:00.000')`,
      sql`insert into run_kinds (run_id, kind, state, reason, detail, pages, "rows", created, updated, deleted, restored,
          unchanged, quarantined, requests, retries, started_at, duration_ms)
        values (99, 'clients', 'invalid', 'not_json', ${`got [{"id":7,"name":"Zénobie Quatref…`}, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0,
          '2026-01-01 00:00:00.000', 1)`,
      sql`insert into webhook_deliveries (endpoint_id, webhook_id, type, response_start)
        values (1, 'm', 'entry.rejected', ${`thanks for ${NAME}`})`,
      sql`insert into plans (id, kind, state, origin, checksum, created_at, created_by)
        values (50, 'clients', 'open', ${`${NAME}.csv`}, 'c', '2026-01-01 00:00:00.000', 'ada')`,
      sql`insert into plan_rows (plan_id, position, operation, cells)
        values (50, 2, 'create', ${`[{"field":"name","old":null,"new":"${NAME}"}]`})`,
    ])
      await tx.query(text);
  });
  return { env, id, session, url };
}

describe.each(DATABASES)('%s: forget finds a record by its content', (database) => {
  test('in creates that became no record, plans, issues, and texts of the service', async () => {
    const { env, id, session, url } = await stage(database);
    expect(found(await everythingIn(url))).toEqual(SPELLINGS);

    const ended = await run(['forget', 'clients', id, '--yes', '--json'], env);

    expect(ended).toMatchObject({ code: 0 });
    expect(document(ended)).toMatchObject({ erased: { entries: 3, attempts: 3 } });
    expect(found(await everythingIn(url))).toEqual([]);
    if (database === 'SQLite') expect(found(bytesOf(url.replace('file:', '')).toString())).toEqual([]);
    expect(await session.query(sql`select payload from outbox where idempotency_key = 'other'`)).toEqual([
      { payload: '{"code":"OTHER","city":"Montréal"}' },
    ]);
  });

  test('and is refused while a create with it waits for a decision', async () => {
    const { env, id, session, url } = await stage(database);
    await putEntry(session, { key: 'waits', state: 'parked', payload: PERSON });
    const before = await everythingIn(url);

    const ended = await run(['forget', 'clients', id, '--yes', '--json'], env);

    expect(ended).toMatchObject({ code: 1 });
    expect(document(ended)).toMatchObject({ error: { code: 'forget.entries_open' } });
    expect(await everythingIn(url)).toBe(before);
    await run(['outbox', 'abandon', '5'], env);
    await run(['forget', 'clients', id, '--yes'], env);
    expect(found(await everythingIn(url))).toEqual([]);
  });

  test.each([
    ['a broken list', 200, `{"data":[{"id":1,"name":"${NAME}`],
    ['no list', 200, `{"data":"${NAME}"}`],
    ['a failure', 200, `{"success":false,"message":"${NAME}"}`],
    ['a page', 200, `<html>${NAME}`],
    ['a refusal', 403, `{"message":"${NAME}"}`],
    ['an odd meta', 200, `{"data":[],"meta":"${NAME}"}`],
  ])('%s leaves nothing of an answer in tables, output and log', async (_, status, body) => {
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
    await using service = await listening(server);
    const { url } = await mirrorIn(database);
    const env: Env = {
      BMS_BASE_URL: service.url,
      BMS_TOKEN: canary('token'),
      DATABASE_URL: url,
      BMS__SOURCE__MAX_ATTEMPTS: '1',
      LOG_LEVEL: 'debug',
    };

    const ended = await run(['pull', 'clients', '--json'], env);

    expect(ended.stdout).toMatch(/"detail":"GET \/api\/clients page 1: got /);
    expect(found(`${ended.stdout}${ended.stderr}${await everythingIn(url)}`)).toEqual([]);
  });
});
