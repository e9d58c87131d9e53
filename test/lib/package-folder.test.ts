import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_FOLDER } from '../../src/lib/package-folder.ts';

test.each([
  'package.json',
  'src/dashboard/assets/dashboard.css',
  'src/features/reports/catalogue',
  'migrations/sqlite',
  'migrations/postgres',
])('%s is found from the sources', (path) => {
  expect(existsSync(join(PACKAGE_FOLDER, path))).toBe(true);
});
