import { join } from 'node:path';
import { buildProgram } from './build/bundle.ts';

const { bytes, packages } = await buildProgram(join(import.meta.dirname, '../dist'));
console.log(`dist/: ${(bytes / 1e6).toFixed(1)} MB, ${packages} libraries included (dist/third-party.txt)`);
