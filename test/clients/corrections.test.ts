import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mirrorIn } from '../events/support.ts';
import { sandbox } from '../pull/support.ts';
import { document, run } from '../support/command-line.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { insertHardRows } from './hard-rows.ts';
import { csvOf, saveInOffice } from './office.ts';

/** A mirror with rows that spreadsheets are known to bend. */
async function scene() {
  const service = await sandbox({ size: 40 });
  insertHardRows(service.world);
  const { url } = await mirrorIn('SQLite');
  const env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url };
  await run(['pull', 'clients', 'purchase_products', 'punches'], env);
  return { env, folder: tempFolder() };
}

interface Planned {
  readonly rows: readonly { readonly cells: readonly object[]; readonly refusal: string | null }[];
}

describe.each(['csv', 'xlsx'])('%s that LibreOffice in French has saved', (format) => {
  test.each(['clients', 'purchase_products', 'punches'])('of untouched %s changes nothing', async (kind) => {
    const { env, folder } = await scene();
    const path = join(folder, `${kind}.${format}`);
    await run(['export', kind, ...(format === 'csv' ? ['--excel'] : []), '--out', path], env);
    const planned = document(
      await run(['plan', await saveInOffice(path), '--create', '--json'], env),
    ) as Planned;
    expect(planned.rows.filter(({ cells }) => cells.length > 0)).toEqual([]);
    expect(planned.rows).toEqual([]);
  });
});

test('CSV that LibreOffice in French has saved changes what its author has changed', async () => {
  const { env, folder } = await scene();
  const path = join(folder, 'clients.csv');
  await run(['export', 'clients', '--excel', '--out', path], env);
  writeFileSync(path, readFileSync(path, 'utf8').replace(/;"?L'Anse-à-la-Cabane"?;/, ';Gaspé;'));
  const planned = document(
    await run(['plan', await saveInOffice(path), '--create', '--json'], env),
  ) as Planned;
  expect(planned.rows).toMatchObject([
    { cells: [{ field: 'city', old: "L'Anse-à-la-Cabane", new: 'Gaspé' }], refusal: null },
  ]);
});

const COUNTRIES = {
  'the United States': 1033,
  'Great Britain': 2057,
  Germany: 1031,
  France: 1036,
  Japan: 1041,
};

describe.each(Object.entries(COUNTRIES))('LibreOffice of %s', (_, language) => {
  test.each([
    ['csv', ',', []],
    ['csv', ';', ['--excel']],
  ])(
    'that has saved untouched %s with "%s" changes nothing: what it did to codes and long amounts is refused',
    async (format, separator, flags) => {
      const { env, folder } = await scene();
      const path = join(folder, `clients.${format}`);
      await run(['export', 'clients', ...flags, '--out', path], env);
      const file = await saveInOffice(path, csvOf(language, separator));
      const planned = document(await run(['plan', file, '--json'], env)) as Planned;
      const isLost = ({ refusal }: Planned['rows'][number]): boolean =>
        /^code: it has lost its zeros|^credit: a spreadsheet has rounded it|^credit_e4/.test(refusal ?? '');
      expect(planned.rows.filter(({ cells }) => cells.length > 0)).toEqual([]);
      expect(planned.rows.filter((row) => separator === ';' || !isLost(row))).toEqual([]);
    },
  );
});
