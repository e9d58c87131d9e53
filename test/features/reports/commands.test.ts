import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DATABASES, mirrorIn } from '../../events/support.ts';
import { sandbox } from '../../pull/support.ts';
import { document, run } from '../../support/command-line.ts';
import { tempFolder } from '../../support/temp-folder.ts';

test.each(DATABASES)('report lists the reports, and prints or writes one, in %s', async (database) => {
  const service = await sandbox({ size: 8 });
  const { url } = await mirrorIn(database);
  const shop = { BMS__INCLUDE_KINDS: 'shop', BMS__REPORTS__SOLD: 'invoice' };
  const env = { BMS_BASE_URL: service.url, BMS_TOKEN: service.token, DATABASE_URL: url, ...shop };
  await run(['migrate'], env);
  await run(['pull', 'sales', 'sales_products', 'clients'], env);

  const { reports } = document(await run(['report', '--json'], env)) as { reports: { name: string }[] };
  expect(reports).toContainEqual(
    expect.objectContaining({ name: 'sales-by-month', from: true, missing: null }),
  );
  const printed = await run(['report', 'sales-by-month', '--from', '2025-01-15'], env);
  expect(printed).toMatchObject({ code: 0, stderr: '' });
  expect(printed.stdout).toMatch(/Total of company 7: sales \d+, lines_exact [\d.]+, total_exact [\d.]+/);
  expect(printed.stdout).toContain('In part: 2025-01');
  expect(printed.stdout).toMatch(/Left out, counted over all days: sales quote \(\d+\)\./);

  const out = join(tempFolder(), 'sales.csv');
  const written = document(await run(['report', 'sales-by-month', '--out', out, '--json'], env));
  expect(written).toMatchObject({ name: 'sales-by-month', file: out, totals: [{ company: '7' }] });
  expect(readFileSync(out, 'utf8')).toMatch(/month,company,branch,status,sales[^]*,sold,/);
  for (const wrong of [
    ['sales-by-month', '--from', '2025-13-01'],
    ['sales-by-month', '--from', '2025-02-02', '--to', '2025-02-01'],
    ['sales-by-year'],
    ['sales-by-month', '--out', 'sales.pdf'],
  ])
    expect(await run(['report', ...wrong], env)).toMatchObject({ code: 2, stdout: '' });
});
