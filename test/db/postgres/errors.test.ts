import { inspect } from 'node:util';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { MirrorError } from '../../../src/db/session/errors.ts';
import { openSession } from '../../../src/db/open-session.ts';
import { locationOf, refuseOldServer } from '../../../src/db/postgres/connection.ts';
import { postgresError } from '../../../src/db/postgres/errors.ts';
import { canary } from '../../support/canary.ts';
import { bystander, freshDatabaseUrl } from '../../support/postgres.ts';
import { openForTest } from '../../store/postgres-mirror.ts';
import { mirrorFault, thrownBy } from '../../store/temp-mirror.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const CANARY = canary('');

/** The same address with other parts, and always with the canary for a password. */
function changed(
  url: string,
  parts: { user?: string; host?: string; port?: string; database?: string },
): string {
  const other = new URL(url);
  other.password = CANARY;
  other.username = parts.user ?? other.username;
  other.hostname = parts.host ?? other.hostname;
  other.port = parts.port ?? other.port;
  other.pathname = parts.database ?? other.pathname;
  return other.href;
}

/** What opening throws, whole: with its causes and hidden properties. */
async function opening(url: string): Promise<{ code: unknown; all: string; message: string }> {
  const error = await thrownBy(() => openSession(url));
  if (!(error instanceof MirrorError)) throw error;
  const all = inspect(error, { depth: Infinity, showHidden: true });
  return { code: error.code, all, message: `${error.message} ${error.hint ?? ''}` };
}

describe('a database that cannot be opened', () => {
  test.each([
    ['nobody listens', { port: '1' }, 'mirror.unreachable'],
    ['nobody knows the host', { host: 'nowhere.invalid' }, 'mirror.unreachable'],
    ['the password is wrong', {}, 'mirror.login_refused'],
    ['there is no such user', { user: 'nobody' }, 'mirror.login_refused'],
  ])('%s', async (_, parts, code) => {
    const found = await opening(changed(await freshDatabaseUrl(), parts));
    expect(found.code).toBe(code);
    expect(found.all).not.toContain(CANARY);
    expect(found.message).toMatch(/^The mirror postgres:\/\/[\w.]+:\d+\/test_\w+ /);
  });

  test('no password is given where one is needed', async () => {
    const url = new URL(await freshDatabaseUrl());
    url.password = '';
    expect((await opening(url.href)).code).toBe('mirror.login_refused');
  });

  test('there is no such database', async () => {
    const url = new URL(await freshDatabaseUrl());
    url.pathname = 'nothing_here';
    const found = await opening(url.href);
    expect([found.code, found.message]).toEqual([
      'mirror.no_database',
      expect.stringContaining('/nothing_here does not exist (3D000)'),
    ]);
    expect(found.all).not.toContain(url.password);
  });

  test.each([
    [`postgres://user:${CANARY}#@host/db`],
    [`postgres://user:12/${CANARY}@host/db`],
    [`postgres://user:12?${CANARY}@host/db`],
    [`postgres://user:12#${CANARY}@host/db`],
    [`postgres://user:${CANARY}@host:port/db`],
  ])('the address is none: %s', async (url) => {
    const found = await opening(url);
    expect(found.code).toBe('mirror.bad_address');
    expect(found.all).not.toContain(CANARY);
    expect(found.message).not.toContain('12');
  });

  test.each([120022, 90624])('G10: server version %i is refused', (version) => {
    expect(() => {
      refuseOldServer(version, 'p');
    }).toThrow(/expected 13 or later/);
  });

  test.each([130000, 180004])('G10: server version %i is accepted', (version) => {
    expect(() => {
      refuseOldServer(version, 'p');
    }).not.toThrow();
  });
});

describe('a database that refuses', () => {
  test('a user without rights, a database that only takes reads', async () => {
    const url = await freshDatabaseUrl();
    const admin = await bystander(url);
    const { database } = (await admin.query<{ database: string }>('select current_database() as database'))
      .rows[0] ?? { database: '' };
    const user = `user_${database}`;
    await admin.query(`create role ${user} login password '${CANARY}'`);
    try {
      const session = await openForTest(changed(url, { user }));
      const create = (): Promise<void> =>
        session.atomically((tx) => tx.execute('create table t (id bigint)'));
      const refused = await thrownBy(create);
      expect(refused).toMatchObject({
        code: 'mirror.not_writable',
        message: expect.stringContaining('42501') as unknown,
      });
      expect(inspect(refused, { depth: Infinity, showHidden: true })).not.toContain(CANARY);
      await session.close();
      await admin.query(`alter database ${database} set default_transaction_read_only to on`);
      const readOnly = await openForTest(url);
      expect(
        await mirrorFault(() => readOnly.atomically((tx) => tx.execute('create table t (id bigint)'))),
      ).toBe('mirror.not_writable');
      expect(await mirrorFault(() => readOnly.query(sql`create table t (id bigint)`))).toBe(
        'mirror.not_writable',
      );
      // It comes and goes, as with a failover: the same session writes again.
      await admin.query(`alter database ${database} set default_transaction_read_only to off`);
      await readOnly.atomically((tx) => tx.execute('create table t (id bigint)'));
      await readOnly.close();
    } finally {
      await admin.query(`drop owned by ${user}; drop role ${user}`);
    }
  });

  test('the password is in nothing that a session shows or throws', async () => {
    const url = await freshDatabaseUrl();
    const { password } = new URL(url);
    const session = await openForTest(url);
    const errors = [
      await thrownBy(() => session.query(sql`select nothing`)),
      await thrownBy(() => session.query(sql`create table t (a int)`)),
      await thrownBy(() => session.atomically((tx) => tx.execute('nonsense'))),
      await thrownBy(() =>
        session.atomically((tx) => tx.upsertRows({ table: 't', columns: ['id'], rows: [[1]] })),
      ),
    ];
    expect(inspect([session, ...errors], { depth: Infinity, showHidden: true })).not.toContain(password);
    expect(session.location).toBe(locationOf(url));
  });
});

describe('locationOf', () => {
  test.each([
    ['postgres://user:secret@db.example.com/mirror', 'postgres://db.example.com:5432/mirror'],
    [
      'postgresql://user:secret@db.example.com:6432/mirror?sslmode=require',
      'postgres://db.example.com:6432/mirror',
    ],
    ['postgres://user@[::1]:5432/mirror', 'postgres://[::1]:5432/mirror'],
    ['postgres://user:p%40ss%2F%23@host/mirror', 'postgres://host:5432/mirror'],
    [
      'postgres:///mirror?host=/var/run/postgresql&password=secret',
      'postgres:///var/run/postgresql:5432/mirror',
    ],
  ])('%s is %s', (url, location) => {
    expect(locationOf(url)).toBe(location);
  });
});

describe('postgresError', () => {
  test('names the database, the code and what to do, and keeps the cause', () => {
    const cause = Object.assign(new Error('could not extend file'), { code: '53100' });
    expect(postgresError(cause, 'postgres://h:1/d')).toMatchObject({
      code: 'mirror.disk_full',
      cause,
      message: 'The mirror postgres://h:1/d has no room: the disk is full (53100).',
      hint: expect.stringContaining('Free space') as unknown,
    });
  });

  test.each([
    ['ECONNREFUSED', 'mirror.unreachable'],
    ['ENOTFOUND', 'mirror.unreachable'],
    ['57P03', 'mirror.unreachable'],
    ['57P01', 'mirror.connection_lost'],
    ['08006', 'mirror.connection_lost'],
    ['ECONNRESET', 'mirror.connection_lost'],
    ['28P01', 'mirror.login_refused'],
    ['28000', 'mirror.login_refused'],
    ['3D000', 'mirror.no_database'],
    ['42501', 'mirror.not_writable'],
    ['25006', 'mirror.not_writable'],
    ['53100', 'mirror.disk_full'],
    ['53300', 'mirror.too_many_connections'],
    ['40001', 'mirror.busy'],
    ['40P01', 'mirror.busy'],
    ['55P03', 'mirror.locked'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'mirror.no_tls'],
    ['57P04', 'mirror.connection_lost'],
    ['42P01', 'mirror.tables_missing'],
    ['22021', 'mirror.null_character'],
    ['58P01', 'mirror.fault'],
    ['XX000', 'mirror.fault'],
    ['53200', 'mirror.fault'],
    ['P0001', 'mirror.fault'],
    ['42703', 'mirror.unreadable_schema'],
    ['23514', 'mirror.unreadable_schema'],
    ['EADDRNOTAVAIL', 'mirror.fault'],
  ])('%s is %s', (code, expected) => {
    expect(postgresError(Object.assign(new Error('x'), { code }), 'p')).toMatchObject({ code: expected });
  });

  test('what is ours it passes on unchanged: a bug must look like one', () => {
    const bugs = [
      new TypeError('not a function'),
      Object.assign(new Error('duplicate key'), { code: '23505', constraint: 'clients_pkey' }),
      Object.assign(new Error('syntax error'), { code: '42601' }),
      'text',
      null,
    ];
    expect(bugs.map((bug) => postgresError(bug, 'p'))).toEqual(bugs);
  });
});

describe('openSession', () => {
  test('opens what the address names', async () => {
    await using file = await openSession(`file:${tempFolder()}/mirror.db`);
    await using server = await openSession((await freshDatabaseUrl()).replace('postgres:', 'postgresql:'));
    expect([file.dialect, server.dialect]).toEqual(['sqlite', 'postgres']);
    await server.close();
  });

  test.each(['', 'mirror.db', `mysql://root:${CANARY}@host/db`])(
    'refuses "%s", and does not repeat it',
    async (url) => {
      const error = await thrownBy(() => openSession(url));
      expect(error).toMatchObject({ code: 'settings.database' });
      expect(inspect(error)).not.toContain(CANARY);
    },
  );
});
