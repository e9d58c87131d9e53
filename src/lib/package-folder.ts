import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of this package, with `migrations/` and the dashboard's assets, whether the code runs from `src/` or `dist/`. */
export const PACKAGE_FOLDER = folderWithPackage(import.meta.dirname);

/** The version of bms-sync, from its package.json. */
export function packageVersion(): string {
  const text = readFileSync(join(PACKAGE_FOLDER, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function folderWithPackage(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : folderWithPackage(dirname(folder));
}
