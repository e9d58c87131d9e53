import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { openSession } from '../../../src/db/open-session.ts';
import { tokenHash } from '../../../src/store/users/user-store.ts';
import { document, run } from '../../support/command-line.ts';
import { GROWN_URLS } from '../../support/grown-urls.ts';

describe.each(Object.entries(GROWN_URLS).slice(0, 1))('users of a mirror in %s', (_name, address) => {
  test('are added with a token that is shown this once and kept as a hash, listed, and removed', async () => {
    const url = await address();
    const env = { DATABASE_URL: url, LOG_LEVEL: 'trace' };
    expect((await run(['users'], env)).stdout).toContain('No users');
    const added = await run(['users', 'add', 'Éloïse Roy', '--role', 'operator'], env);
    expect([added.code, added.stderr]).toEqual([0, '']);
    const [token = ''] = /^[\w-]{43}$/m.exec(added.stdout) ?? [];
    expect(token).not.toBe('');
    const other = document(await run(['users', 'add', 'bob@example.com', '--json'], env));
    expect(other).toMatchObject({ name: 'bob@example.com', role: 'viewer' });
    const listed = await run(['users', 'list', '--json'], env);
    expect(document(listed)).toMatchObject({
      users: [
        { name: 'bob@example.com', role: 'viewer' },
        { name: 'Éloïse Roy', role: 'operator' },
      ],
    });
    const { stdout } = await run(['users'], env);
    expect(listed.stdout + stdout).not.toContain(token);
    expect(stdout).toMatch(/^name +role +since \(UTC\)\n/);
    expect(stdout).toMatch(/^Éloïse Roy +operator +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/m);
    await using session = await openSession(url);
    const rows = await session.query(sql`select * from users where name = 'Éloïse Roy'`);
    expect(rows).toMatchObject([{ token_hash: tokenHash(token) }]);
    expect(JSON.stringify(await session.query(sql`select * from decisions`))).not.toContain(token);
    const rotated = await run(['users', 'rotate', 'éloïse roy'], env);
    const [newToken = ''] = /^[\w-]{43}$/m.exec(rotated.stdout) ?? [];
    expect(rotated).toMatchObject({ code: 0, stderr: '' });
    expect([token, '']).not.toContain(newToken);
    const hashes = await session.query(sql`select token_hash from users where name = 'Éloïse Roy'`);
    expect(hashes).toEqual([{ token_hash: tokenHash(newToken) }]);
    expect((await run(['users', 'rotate', 'nobody'], env)).stderr).toContain('does not exist');
    expect(await run(['users', 'remove', 'éloïse roy'], env)).toMatchObject({ code: 0, stderr: '' });
    expect((await run(['users'], env)).stdout).not.toContain('Roy');
  });

  test('have names that are taken whatever their case, and roles that there are', async () => {
    const env = { DATABASE_URL: await address() };
    await run(['users', 'add', 'Marie', '--role', 'admin'], env);
    for (const name of ['marie', 'MARIE', 'admin', 'Admin']) {
      const again = await run(['users', 'add', name], env);
      expect([again.code, again.stderr]).toEqual([
        1,
        expect.stringContaining(`The user ${name} already exists.`),
      ]);
    }
    const role = await run(['users', 'add', 'Bob', '--role', 'boss'], env);
    expect([role.code, role.stderr]).toEqual([
      2,
      expect.stringContaining('expected one of viewer, writer, operator, admin'),
    ]);
    for (const name of ['', ' Bob', 'Bob  Roy', 'a\nb', '<b>', 'x'.repeat(101)])
      expect((await run(['users', 'add', name], env)).code).toBe(2);
    const missing = await run(['users', 'remove', 'Bob'], env);
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringContaining('The user Bob does not exist.'),
    ]);
  });
});
