import { expect, test } from 'vitest';
import { tempMirror, putRecords } from '../store/temp-mirror.ts';
import { TWO_KINDS } from '../support/postgres-templates.ts';
import { serveMirror } from '../http/stage.ts';
import type { ServerSettings } from '../../src/http/server.ts';

const RECORD = `{"id":17,"code":"C-17","default_price_list":"a","credit":12.50,"tags":["x","y"],"none":[],
  "contacts":[{"id":1,"nom":"Ada","cell":null},{"id":2,"nom":"Bea","fonction":"Achats","notes":[{"by":"Cy"}]}],
  "address":{"city":"Laval"}}`;

async function pageOf(parts: Partial<ServerSettings> = {}): Promise<string> {
  const session = await tempMirror(TWO_KINDS);
  await session.atomically((tx) => putRecords(tx, 'clients', [{ id: '17', _raw: RECORD }]));
  const { get } = await serveMirror(session, parts);
  return (await get('/records/clients/17')).text();
}

/** The cells of the table with this caption, row by row. */
function cellsOf(page: string, caption: string): readonly (readonly string[])[] {
  const table = new RegExp(`<caption[^>]*>\\s*${caption}\\s*</caption>([^]*?)</table>`).exec(page)?.[1] ?? '';
  return table
    .split('<tr>')
    .map((row) =>
      [...row.matchAll(/<(?:td|th)[^>]*>([^]*?)<\/(?:td|th)>/g)].map(([, cell = '']) =>
        cell.replace(/<[^>]*>/g, '').trim(),
      ),
    );
}

test('a list within a record is a table with a column for each of its fields, not JSON text', async () => {
  const page = await pageOf();
  expect(cellsOf(page, 'The list Contacts').slice(1)).toEqual([
    ['Id', 'Name', 'Mobile phone', 'Function', 'Notes'],
    ['1', 'Ada', '–', '–', '–'],
    ['2', 'Bea', '–', 'Achats', 'by: Cy'],
  ]);
  expect(cellsOf(page, 'The list Address').slice(1)).toEqual([['City'], ['Laval']]);
  const fields = ['Identity', 'Money', 'Contact', 'Other', 'Empty fields'].flatMap((group) =>
    cellsOf(page, group),
  );
  for (const row of [
    ['Credit', '$12.50'],
    ['Tags', 'x\ny'],
    ['None', '–'],
    ['Contacts', '2 items, below'],
  ])
    expect(fields).toContainEqual(row);
});

test('a time is told in the time zone of the schedules, with UTC in its title', async () => {
  const page = await pageOf({ timezone: 'America/Toronto' });
  expect(page).toMatch(
    /<dt>First seen<\/dt>\s*<dd>\s*<time[^>]*title="2026-03-01 07:00:00 America\/Toronto, 2026-03-01 12:00:00.000 UTC"\s*>1 Mar 2026, 07:00</,
  );
});

test('kinds and fields have the labels of the language, and their technical names in the titles', async () => {
  const page = await pageOf();
  expect(page).toContain('<span title="clients 17">Client 17</span>');
  expect(page).toContain('href="/v1/export/clients?format=xlsx&amp;ids=17"');
  expect(page).toContain('<span class="field" title="default_price_list">Default price list</span>');
  expect(await pageOf({ language: 'fr' })).toContain('<span class="field" title="credit">Crédit</span>');
});
