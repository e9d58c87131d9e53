import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settingsTable } from '../src/config/generated-texts.ts';

const ROOT = join(import.meta.dirname, '..');

test("the table in docs/settings.md is the schema's: `npm run docs:settings` writes it", () => {
  const page = readFileSync(join(ROOT, 'docs/settings.md'), 'utf8');
  const table = /<!-- settings -->(.*)<!-- \/settings -->/s.exec(page)?.[1];
  expect(table?.trim()).toBe(settingsTable());
});
