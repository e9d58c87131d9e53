import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly optional?: boolean }>>;
}

/** How many packages `npm ci` installs, by the lock file; packages for other platforms are left out. */
export function installedPackages(): { readonly all: number; readonly production: number } {
  const text = readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as Lock;
  const some = Object.entries(packages).filter(([path, { optional }]) => path !== '' && optional !== true);
  return { all: some.length, production: some.filter(([, { dev }]) => dev !== true).length };
}
