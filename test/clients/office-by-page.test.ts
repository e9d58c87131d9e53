import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { correctPhones, download, PHONE, PHONES, WORDS } from '../browser/office-job.ts';
import { openStage } from '../browser/stage.ts';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { typeInOffice } from './office.ts';

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

describe.each([
  ['SQLite', 'en', 'wide', {}],
  ['SQLite', 'fr', 'on a phone', PHONE],
  ['PostgreSQL', 'fr', 'wide', {}],
  ['PostgreSQL', 'en', 'on a phone', PHONE],
] as const)('the office, over a mirror in %s, in %s, %s', (database, language, _size, shape) => {
  test('corrects forty phone numbers in LibreOffice and by the page, and takes them back', async () => {
    const words = WORDS[language];
    const url = database === 'SQLite' ? {} : { database: await freshDatabaseUrl() };
    const stage = await openStage({ size: 60, approvals: 1, ...url });
    const options = { ...shape, locale: `${language}-CA`, acceptDownloads: true };
    await correctPhones(stage, words, options, async (page) => {
      const path = join(tempFolder(), 'clients.xlsx');
      writeFileSync(path, await download(page, stage, words.book));
      const buffer = readFileSync(
        await typeInOffice(path, language === 'fr' ? 'Téléphone' : 'Phone', PHONES),
      );
      return { name: 'clients.xlsx', mimeType: XLSX, buffer };
    });
    await stage.close();
  });
});
