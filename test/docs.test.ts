import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settingsTable } from '../src/config/settings-table.ts';

const ROOT = join(import.meta.dirname, '..');

test("the README's table of settings is the schema's: `npm run docs:settings` writes it", () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const table = /<!-- settings -->(.*)<!-- \/settings -->/s.exec(readme)?.[1];
  expect(table?.trim()).toBe(settingsTable());
});
