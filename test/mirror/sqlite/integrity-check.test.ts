import { onTestFinished, expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/catalog.ts';
import { checkIntegrity } from '../../../src/mirror/sqlite/integrity-check.ts';
import { migrate } from '../../../src/mirror/shape/migrate.ts';
import { openSqliteSession } from '../../../src/mirror/sqlite/session.ts';
import { DATABASES, MIRRORS } from '../../pull/steps.ts';
import { freshMirror } from '../../support/temp-folder.ts';
import { ask } from '../../support/mirror-file.ts';
import { damagePages } from '../damage.ts';

test.each(DATABASES)('a sound mirror in %s has no findings', async (database) => {
  expect(await checkIntegrity(await MIRRORS[database]())).toEqual([]);
});

test('a page that a failing disk has overwritten is found', async () => {
  const path = freshMirror();
  {
    await using session = openSqliteSession(path);
    await migrate(session, KINDS);
  }
  const [table] = ask(path, `select rootpage from sqlite_schema where name = 'clients'`);
  damagePages(path, [Number(table?.['rootpage'])]);
  const session = openSqliteSession(path);
  onTestFinished(() => session.close());

  const findings = await checkIntegrity(session);

  expect(findings.length).toBeGreaterThan(0);
  expect(findings.length).toBeLessThanOrEqual(20);
  expect(findings.join('\n')).toMatch(/page|malformed/);
});

test('a check that is called off ends at once', async () => {
  const session = await MIRRORS.SQLite();
  const ended = checkIntegrity(session, AbortSignal.abort());
  await expect(ended).rejects.toMatchObject({ code: 'mirror.unchecked' });
});

test('a file that is gone cannot be checked, and the error names it', async () => {
  const session = await MIRRORS.SQLite();
  const elsewhere = { ...session, location: '/nowhere/mirror.db' };
  await expect(checkIntegrity(elsewhere)).rejects.toThrow(/\/nowhere\/mirror\.db could not be checked/);
});
