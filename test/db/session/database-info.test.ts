import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { databaseIdentity } from '../../../src/db/session/database-info.ts';
import { openSession } from '../../../src/db/open-session.ts';
import { freshDatabaseUrl, freshRole } from '../../support/postgres.ts';
import { freshMirror, tempFolder } from '../../support/temp-folder.ts';

async function placeOf(url: string): Promise<string> {
  await using session = await openSession(url);
  return await databaseIdentity(session);
}

describe('the place of a database', () => {
  test('is that of the file, wherever it is moved, and not of a copy', async () => {
    const path = freshMirror();
    const folder = tempFolder();
    const place = await placeOf(`file:${path}`);
    copyFileSync(path, join(folder, 'copy.db'));
    renameSync(path, join(folder, 'moved.db'));
    expect(await placeOf(`file:${join(folder, 'moved.db')}`)).toBe(place);
    expect(await placeOf(`file:${join(folder, 'copy.db')}`)).not.toBe(place);
  });

  test('is the same by any address and for any user of a server, and differs for each of its databases', async () => {
    const url = await freshDatabaseUrl();
    const place = await placeOf(url);
    const byName = new URL((await freshRole(url)).url);
    byName.hostname = 'localhost';
    expect(await placeOf(byName.href)).toBe(place);
    expect(await placeOf(await freshDatabaseUrl())).not.toBe(place);
  });
});
