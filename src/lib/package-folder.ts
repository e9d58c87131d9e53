import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of this package, whose `assets/` and `migrations/` stand beside the code, be it in `src/` or built in `dist/`. */
export const PACKAGE_FOLDER = folderWithPackage(import.meta.dirname);

function folderWithPackage(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : folderWithPackage(dirname(folder));
}
