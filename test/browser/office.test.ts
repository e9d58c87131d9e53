import { parseCsv } from '@cj-tech-master/excelts/csv';
import type { Page } from 'playwright-core';
import { describe, test } from 'vitest';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { correctPhones, download, PHONE, PHONES, WORDS, type Words } from './office-job.ts';
import { openStage, type BrowserStage } from './stage.ts';

/** The exported file, with other phone numbers in its first rows. */
async function correctedExport(page: Page, stage: BrowserStage, words: Words): Promise<string> {
  const text = (await download(page, stage, words.csv)).toString();
  const delimiter = text.split('\r\n', 1)[0]?.includes(';') === true ? ';' : ',';
  const [head = [], ...rows] = parseCsv(text.replace(/^\ufeff/, ''), { delimiter }).filter(
    (row) => row.length > 1,
  );
  const phone = head.indexOf('phone');
  const edited = rows.map((row, at) =>
    row.map((cell, place) => (place === phone ? (PHONES[at] ?? cell) : cell)),
  );
  const quoted = (row: readonly string[]): string =>
    row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(delimiter);
  return [head, ...edited].map(quoted).join('\r\n');
}

describe.each([
  ['SQLite', 'en', 'wide', {}],
  ['PostgreSQL', 'fr', 'on a phone', PHONE],
] as const)('the office, over a mirror in %s, in %s, %s', (database, language, _size, shape) => {
  test('adds users, corrects forty phone numbers by a spreadsheet, and takes them back', async () => {
    const words = WORDS[language];
    const url = database === 'SQLite' ? {} : { database: await freshDatabaseUrl() };
    const stage = await openStage({ size: 60, approvals: 1, ...url });
    const options = { ...shape, locale: `${language}-CA`, acceptDownloads: true };
    await correctPhones(stage, words, options, async (page) => {
      const buffer = Buffer.from(await correctedExport(page, stage, words));
      return { name: 'phones.csv', mimeType: 'text/csv', buffer };
    });
    await stage.close();
  });
});
