import Sqlite from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { openSession } from '../../src/db/open-session.ts';
import type { Row } from '../../src/db/session/session.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { sandbox } from '../pull/support.ts';
import { document, kindIn, run, type Ended, type Env } from '../support/command-line.ts';
import { GROWN_URLS } from '../support/grown-urls.ts';
import { bytesOf } from '../support/mirror-file.ts';
import { everythingIn } from '../support/whole-mirror.ts';

const DATABASES = ['SQLite', 'PostgreSQL'] as const;

/** Personal data of the client that is forgotten: now, before, and of a contact. */
const NAME = 'Zénobie Quatrefages';
const FORMER = 'Zénobie Duvoisin';
const CONTACT = 'Barnabé Quatrefages';
const PERSONAL = ['Quatrefages', 'Duvoisin', 'quatrefages@example.com'];

interface Stage {
  readonly service: Sandbox;
  readonly env: Env;
  readonly url: string;
  readonly id: string;
  readonly forget: (...argv: readonly string[]) => Promise<Ended>;
  /** Asks the mirror with a session of its own. */
  readonly ask: (question: string) => Promise<Row[]>;
}

/** A mirror with one client whose personal data is wherever it can be. */
async function stage(database: (typeof DATABASES)[number], more: Env = {}): Promise<Stage> {
  const service = await sandbox({ size: 12 });
  const url = await GROWN_URLS[database]();
  const env = {
    BMS_BASE_URL: service.url,
    BMS_TOKEN: service.token,
    DATABASE_URL: url,
    ...more,
    BMS__DELETIONS__GRACE_SECONDS: '0',
  };
  const inserted = service.world.insert('clients', {
    code: 'ZQ',
    name: FORMER,
    email: 'quatrefages@example.com',
    creation_date: 'Quatrefages: no date',
    contacts: [{ id: 1, nom: CONTACT }],
  });
  const id = String(Number(inserted['id']));
  await run(['pull', 'clients'], env);
  service.world.update('clients', Number(id), { name: NAME });
  await run(['pull', 'clients'], env);
  const ask = async (question: string): Promise<Row[]> => {
    await using session = await openSession(url);
    return await session.query(sql.raw(question));
  };
  await run(['push', 'update', 'clients', id, '--data', `{"name":"${NAME}"}`, '--key', 'k1'], env);
  await settle(url, id);
  return { service, env, url, id, ask, forget: (...argv) => run(['forget', 'clients', id, ...argv], env) };
}

/** Ends the entry as if it had been sent, with all that an attempt leaves. */
async function settle(url: string, id: string): Promise<void> {
  await using session = await openSession(url);
  await session.atomically(async (tx) => {
    await tx.query(
      sql`update outbox set state = 'done', natural_key = ${NAME}, preimage = ${NAME}, result = ${NAME}, base = ${`{"name":"${FORMER}"}`}`,
    );
    await tx.query(sql`
      insert into outbox_attempts (outbox_id, n, opened_at, request, response_start)
      select id, 1, created_at, ${`PUT {"name":"${NAME}"}`}, ${`{"id":${id},"name":"${NAME}"}`} from outbox`);
    for (const [body, state] of [
      [null, 'delivered'],
      [`{"name":"${NAME}"}`, 'ready'],
    ] as const)
      await tx.query(sql`
        insert into webhook_deliveries (endpoint_id, webhook_id, type, kind, record_id, body, state, response_start)
        values (1, ${`msg_${state}`}, 'clients.updated', 'clients', ${id}, ${body}, ${state}, ${`got ${NAME}`})`);
  });
}

/** Deletes the record at the service, and pulls until the mirror has its tombstone. */
async function deleted({ service, env, id, ask }: Stage): Promise<void> {
  service.world.remove('clients', Number(id));
  for (let pull = 0; pull < 4; pull++) {
    await run(['pull', 'clients'], env);
    const [row] = await ask(`select _deleted_at as at from clients where id = ${id}`);
    if (row?.['at'] !== null) return;
  }
  throw new Error('The record was not found to be deleted.');
}

const found = (text: string): string[] => PERSONAL.filter((word) => text.includes(word));

describe.each(DATABASES)('%s', (database) => {
  test('a deleted record is forgotten wherever the mirror had it; a tombstone and a note stay', async () => {
    const made = await stage(database);
    const { id, ask, forget, env } = made;
    await deleted(made);
    expect(found(await everythingIn(made.url))).toEqual(PERSONAL);
    if (database === 'SQLite')
      expect(found(bytesOf(made.url.replace('file:', '')).toString())).not.toEqual([]);

    const ended = await forget('--yes', '--json');

    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(document(ended)).toEqual({
      kind: 'clients',
      id,
      suppressed: false,
      scrubbed: database === 'SQLite' ? true : null,
      erased: { row: true, events: 2, issues: 1, entries: 1, attempts: 1, deliveries: 2 },
    });
    expect(found(await everythingIn(made.url))).toEqual([]);
    if (database === 'SQLite') expect(found(bytesOf(made.url.replace('file:', '')).toString())).toEqual([]);
    const [row] = await ask(`select _raw, name, code, _deleted_at from clients where id = ${id}`);
    expect(row).toMatchObject({
      _raw: `{"id":${id}}`,
      name: null,
      code: null,
      _deleted_at: expect.any(String) as string,
    });
    expect(await ask(`select kind, record_id, suppressed from erasures`)).toEqual([
      { kind: 'clients', record_id: id, suppressed: 0 },
    ]);
    expect(await ask('select state, body, response_start from webhook_deliveries order by id')).toEqual([
      { state: 'delivered', body: null, response_start: null },
      { state: 'dropped', body: null, response_start: null },
    ]);
    expect(await ask(`select change, before, after, fields from changes order by seq`)).toEqual([
      { change: 'updated', before: `{"id":${id}}`, after: `{"id":${id}}`, fields: '{}' },
      { change: 'deleted', before: `{"id":${id}}`, after: null, fields: '{}' },
    ]);
    const again = await run(['pull', 'clients', '--json'], env);
    expect(kindIn(again, 'clients')).toMatchObject({
      state: 'certified',
      created: 0,
      updated: 0,
      deleted: 0,
      restored: 0,
    });
    expect(await ask(`select count(*) as n from changes`)).toEqual([{ n: 2 }]);
  });

  test('a suppressed record counts as listed and never lands again, whatever happens to it', async () => {
    const made = await stage(database);
    const { service, env, id, ask, forget } = made;

    expect(await forget('--yes', '--suppress')).toMatchObject({ code: 0 });
    const { stdout: shown } = await run(['record', 'clients', id], env);
    expect(shown).toContain('is forgotten and excluded from the mirror');
    expect(shown).not.toMatch(/deleted|no longer/i);
    expect(await ask(`select id from bi_deleted_clients where id = ${id}`)).toEqual([]);

    const pulled = async (): Promise<unknown> => {
      const ended = await run(['pull', 'clients', '--json'], env);
      const { state, created, updated, restored, deleted: gone, rows } = kindIn(ended, 'clients');
      expect(await ask('select count(*) as n from bi_clients')).toEqual([{ n: rows }]);
      return { code: ended.code, state, created, updated, restored, gone };
    };
    const quiet = { code: 0, state: 'certified', created: 0, updated: 0, restored: 0, gone: 0 };
    expect(await pulled()).toEqual(quiet);
    service.world.update('clients', Number(id), { city: 'Quatrefages-sur-Mer' });
    expect(await pulled()).toEqual(quiet);
    const words = async (...argv: string[]) => (await run([...argv, 'clients'], env)).stdout;
    expect(await words('pull')).toMatch(
      /clients: all \d+ rows .* are in the mirror; 1 more is kept out: forgotten\.\n/,
    );
    expect(await words('verify')).toContain('\nclients: 1 kept out: forgotten\n');
    const backfilled = await run(['backfill', 'clients', '--ids', id], env);
    expect(backfilled.code).toBe(0);
    expect(backfilled.stdout).toMatch(/^clients: 0 records read: .* 0 unchanged/);
    expect(backfilled.stdout).toContain(`\nKept out: forgotten (1): ${id}.\n`);
    expect(await run(['backfill', 'clients', '--all'], env)).toMatchObject({ code: 0 });
    expect(await run(['verify', 'clients'], env)).toMatchObject({ code: 0 });
    service.world.remove('clients', Number(id));
    for (let pull = 0; pull < 3; pull++) expect(await pulled()).toEqual(quiet);
    expect(found(await everythingIn(made.url))).toEqual([]);
    expect(
      await ask(`select count(*) as n from changes where record_id = '${id}' and change <> 'updated'`),
    ).toEqual([{ n: 0 }]);
    const [row] = await ask(`select _deleted_at as at from clients where id = ${id}`);
    expect(row?.['at']).not.toBeNull();
  });
});

test('a record that the service still lists is refused, and nothing changes', async () => {
  const made = await stage('SQLite');
  const before = await everythingIn(made.url);

  const ended = await made.forget('--yes', '--json');

  expect(ended).toMatchObject({ code: 1 });
  expect(document(ended)).toMatchObject({ error: { code: 'forget.listed' } });
  expect(await everythingIn(made.url)).toBe(before);
});

test('while an entry of the outbox is open, it is refused', async () => {
  const made = await stage('SQLite');
  await run(['push', 'update', 'clients', made.id, '--data', '{"phone":"1"}'], made.env);

  const ended = await made.forget('--yes', '--suppress');

  expect(ended).toMatchObject({ code: 1 });
  expect(ended.stderr).toContain('The outbox has open entries');
});

test('while another process holds the file, it says that free space still has it', async () => {
  const made = await stage('SQLite');
  const reader = new Sqlite(made.url.replace('file:', ''), { readonly: true });
  reader.exec('begin; select * from clients');
  reader.prepare('select count(*) from clients').get();

  const ended = await made.forget('--yes', '--suppress', '--json');

  reader.close();
  expect(ended).toMatchObject({ code: 3 });
  expect(document(ended)).toMatchObject({ scrubbed: false });
  expect(document(await made.forget('--yes', '--suppress', '--json'))).toMatchObject({ scrubbed: true });
});

describe('it refuses', () => {
  test('without --yes it shows what would be removed, and changes nothing', async () => {
    const made = await stage('SQLite');

    const ended = await made.forget('--suppress');

    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/: a \w+ row; events: \d+, .* Nothing was forgotten: .* add --yes\.\n/);
    expect(await made.ask('select count(*) as n from erasures')).toEqual([{ n: 0 }]);
    const done = await made.forget('--suppress', '--yes');
    expect(done).toMatchObject({ code: 0 });
    expect(done.stdout).toMatch(/ is forgotten: its row; events: \d+, .*, deliveries: \d+\. It is excluded /);
  });

  test.each([
    [['forget', 'clinets', '17', '--yes'], 2, 'did you mean clients?'],
    [['forget', 'clients', 'C-1', '--yes'], 2, '"C-1" is not the id'],
    [['forget', 'clients', '4711', '--yes'], 1, 'no trace of record 4711'],
    [['forget', 'clients'], 2, "missing required argument 'id'"],
  ] as const)('%s', async (argv, code, message) => {
    const url = await GROWN_URLS.SQLite();
    const ended = await run(argv, { DATABASE_URL: url });
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toContain(message);
  });
});
