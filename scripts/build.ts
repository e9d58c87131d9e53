import { join } from 'node:path';
import { bundle } from './build/bundle.ts';

const ROOT = join(import.meta.dirname, '..');
const { bytes, packages } = await bundle(
  ['src/main.ts', 'src/mcp/sql/sqlite-child.ts', 'src/db/sqlite/reader-thread.ts'],
  join(ROOT, 'dist'),
);
console.log(`dist/: ${(bytes / 1e6).toFixed(1)} MB, ${packages} libraries included (dist/third-party.txt)`);
