import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { checkDatabase } from '../../src/checks/database.ts';
import { checkSpace } from '../../src/checks/database-file.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { freeze } from '../../src/store/outbox/freeze-store.ts';
import { saveBlock } from '../../src/store/outbox/outbox-queue.ts';
import { admit, openMirror } from '../../src/app/open-mirror.ts';
import { openSession } from '../../src/db/open-session.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { freshMirror } from '../support/temp-folder.ts';

const MB = 2 ** 20;
const configOf = (url: string) => loadConfig({ env: {}, flags: { database: { url } } });

test.each([
  { size: 1 * MB, free: 256 * MB, ffree: 9, ok: true },
  { size: 1 * MB, free: 255 * MB, ffree: 9, ok: false },
  { size: 2000 * MB, free: 1000 * MB, ffree: 9, ok: true },
  { size: 2000 * MB, free: 999 * MB, ffree: 9, ok: false },
  { size: 1 * MB, free: 256 * MB, ffree: 0, ok: false },
])('of $size bytes in use with $free and $ffree files free: $ok', ({ size, free, ffree, ok }) => {
  const disk = { bavail: free, bsize: 1, files: 10, ffree, type: 0 };
  expect(checkSpace(size, disk)).toMatchObject({ ok, code: ok ? null : 'mirror.little_space' });
});

test('frozen sends fail a check that says why and how they go on', async () => {
  const config = configOf(`file:${freshMirror()}`);
  await using session = await openMirror(config);
  const look = () => checkDatabase(config, { mirror: () => openSession(config.database.url), admit });
  expect((await look()).checks.map(({ name }) => name)).not.toContain('writes.frozen');
  const now = new Date('2026-03-01T12:00:00Z');
  await session.atomically((tx) => freeze(tx, 'a back-up was restored', now));
  expect((await look()).checks).toContainEqual({
    name: 'writes.frozen',
    ok: false,
    code: 'outbox.frozen',
    detail: 'sends are paused since 2026-03-01 12:00:00 UTC: a back-up was restored',
    hint: expect.stringContaining('bms-sync outbox resume') as string,
  });
});

test.each([
  ['SQLite', /SQLite 3\.\d+/],
  ['PostgreSQL', /PostgreSQL \d+/],
])(
  'a mirror in %s says its version, its size, and the kinds that may not be written',
  async (name, version) => {
    const config = configOf(name === 'SQLite' ? `file:${freshMirror()}` : await freshDatabaseUrl());
    const more = name === 'SQLite' ? ['database.space', 'database.integrity'] : ['database.fsync'];
    await (await openMirror(config)).close();
    const look = () => checkDatabase(config, { mirror: () => openSession(config.database.url), admit });
    const [fresh, ...others] = (await look()).checks;
    expect(fresh?.detail).toMatch(version);
    expect(others.map((finding) => finding.name)).toEqual(more);
    expect(others.every(({ ok }) => ok)).toBe(true);
    // The tests' server does not wait for its disk.
    if (name === 'PostgreSQL')
      expect(others[0]).toMatchObject({
        detail: expect.stringContaining('fsync is off') as string,
        hint: expect.stringContaining('fsync = on') as string,
      });

    await using session = await openMirror(config);
    const now = new Date('2026-03-01T12:00:00Z');
    await session.atomically((tx) =>
      saveBlock(tx, { kind: 'clients', reason: 'forbidden', now, probeAt: now }),
    );
    expect(await session.query(sql`select kind from write_blocks`)).toEqual([{ kind: 'clients' }]);
    expect((await look()).checks.at(-1)).toMatchObject({
      name: 'writes.clients',
      ok: false,
      code: 'outbox.kind_blocked',
      detail: expect.stringContaining('forbidden') as string,
    });
  },
);
