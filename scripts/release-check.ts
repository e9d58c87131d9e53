/** Packs this checkout, installs the package in an empty folder and runs the demo, a pull and serve there: `npm run release -- check`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPackage, packPackage } from './release/check-package.ts';

const ROOT = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const folder = mkdtempSync(join(tmpdir(), 'bms-sync-pack-'));
try {
  const tarball = packPackage(ROOT, folder);
  await checkPackage(tarball, version);
  console.log(`bms-sync ${version} installs from its package; its demo, pull and serve run.`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
