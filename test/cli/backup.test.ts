import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, document } from '../support/command-line.ts';
import { openSession } from '../../src/db/open-session.ts';
import { saveHeartbeat } from '../../src/store/runs/worker-store.ts';
import { ask, dump } from '../support/mirror-file.ts';
import { GROWN_URLS } from '../support/grown-urls.ts';
import { grownMirror } from '../support/sqlite-templates.ts';
import { tempFolder } from '../support/temp-folder.ts';

test('a back-up is the mirror of one instant, readable by its owner only, with the count of sends beside it', async () => {
  const path = await grownMirror();
  writeFileSync(`${path}.sends`, '7\n');
  const copy = join(tempFolder(), 'copy.db');
  const ended = await run(['backup', copy], { DATABASE_URL: `file:${path}` });
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('copy.db') as string });
  expect(readFileSync(`${copy}.sends`, 'utf8')).toBe('7\n');
  expect([copy, `${copy}.sends`].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
  expect([`${copy}-wal`, `${copy}-shm`].filter((file) => existsSync(file))).toEqual([]);
  expect(dump(copy)).toEqual(dump(path));
});

test('a back-up that is put back in place pauses sends, though file and count are those of before', async () => {
  const path = await grownMirror();
  const env = { DATABASE_URL: `file:${path}` };
  await run(['push', 'create', 'clients', '--data', '{"code":"B-1","name":"B"}'], env);
  const session = await openSession(`file:${path}`);
  await saveHeartbeat(session, { owner: 'here', roles: ['pulls'] });
  await session.close();
  const copy = join(tempFolder(), 'copy.db');
  expect(await run(['backup', copy], env)).toMatchObject({ code: 0 });
  expect(ask(copy, 'select owner from workers')).toEqual([]); // They work on the original.
  copyFileSync(copy, path); // The same inode and birth time.
  const status = document(await run(['status', '--json'], env)) as { frozen: { reason: string } | null };
  expect(status.frozen?.reason).toContain('copy of another');
});

test('nothing is replaced, and a mirror in PostgreSQL is left to its own programs', async () => {
  const path = await grownMirror();
  const copy = join(tempFolder(), 'copy.db');
  writeFileSync(`${copy}.sends`, 'of somebody');
  const env = { DATABASE_URL: `file:${path}` };
  expect(await run(['backup', copy], env)).toMatchObject({ code: 2 });
  expect(existsSync(copy)).toBe(false);
  const elsewhere = await run(['backup', copy], { DATABASE_URL: await GROWN_URLS.PostgreSQL() });
  expect(elsewhere).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`pg_dump --format custom --file '${copy}'`) as string,
  });
});
