/** Fails where a library that the package holds, bundled or beside it, has a known hole: `npm run audit`. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { holesIn } from './audit/holes.ts';

const ROOT = join(import.meta.dirname, '..');
const bill = readFileSync(join(ROOT, 'dist/sbom.cdx.json'), 'utf8');
// All that is installed, tools included: bundled libraries are dependencies of the build. The bill shows which of them are held.
const { stdout } = spawnSync('npm', ['audit', '--json'], { cwd: ROOT, encoding: 'utf8' });
const holes = holesIn(stdout, bill);
for (const { name, severity, title, url } of holes) console.error(`${name}: ${title} (${severity}) ${url}`);
if (holes.length > 0) process.exitCode = 1;
else console.log('No library of the package has a known hole.');
