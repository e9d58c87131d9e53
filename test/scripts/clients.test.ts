import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packagesOf } from '../../scripts/clients/install.ts';
import { blocksOf, codeOf, pagesToInstall } from '../../scripts/clients/pages.ts';
import { CLIENTS } from '../clients/clients.ts';

const FOLDER = join(import.meta.dirname, '../../docs/reporting');

test('the index of docs/reporting has every page, and no other', () => {
  const index = readFileSync(join(FOLDER, 'README.md'), 'utf8');
  const linked = Array.from(index.matchAll(/\]\((\w+\.md)\)/g), ([, page = '']) => page);
  const pages = readdirSync(FOLDER).filter((name) => name.endsWith('.md') && name !== 'README.md');
  expect([...new Set(linked)].sort()).toEqual(pages.sort());
});

test('every page that installs a client is read through by a test, from the headings that it has', () => {
  expect(pagesToInstall()).toEqual(
    [
      ...new Set([...CLIENTS.map(({ page }) => page), 'dbt', 'metricflow', 'spreadsheets', 'visidata']),
    ].sort(),
  );
  for (const { page, section } of CLIENTS)
    expect(blocksOf(page).map((block) => block.section)).toEqual(
      expect.arrayContaining(['Install', section]),
    );
});

test('code is taken from the named headings, in their order', () => {
  const code = codeOf('pandas', 'python', ['SQLite', 'Read']);
  expect(code).toMatch(/^from .*sqlite:.*import pandas/s);
  expect(code).not.toContain('postgresql');
  expect(() => codeOf('pandas', 'r', ['Read'])).toThrow('docs/reporting/pandas.md has no r under Read.');
});

test('packages of Debian are told from the other commands of a page', () => {
  expect(packagesOf('odbc')).toEqual(['unixodbc', 'libsqliteodbc', 'odbc-postgresql']);
  expect(packagesOf('pandas')).toEqual([]);
});
