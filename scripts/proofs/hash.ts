import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isProof } from '../../test/support/tiers.ts';

/** Everything that a proof's answer depends on, beside the proofs and what they import. */
const PROVED: readonly string[] = [
  'src/lib',
  'src/catalog',
  'src/db',
  'src/source',
  'src/diff',
  'src/store',
  'src/pull',
  'src/outbound',
  'src/features',
  'src/runs',
  'sandbox',
  'migrations',
  'test/support',
  'test/canary',
  'vitest.config.ts',
  'package-lock.json',
];

export interface ProvedFile {
  /** Relative to the project, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** One SHA-256 of all files, in whatever order they come, and of Node's version. */
export function proofsHash(files: readonly ProvedFile[], nodeVersion: string): string {
  const named = files.map(({ path, text }) => [path, sha256(text)] as const);
  const sorted = named.sort(([a], [b]) => (a < b ? -1 : 1));
  return sha256(JSON.stringify([nodeVersion, sorted]));
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Reads what the proofs depend on from a checkout. */
export function provedFiles(root: string): ProvedFile[] {
  const paths = new Set(filesAt(root, 'test').filter(isProof));
  for (const path of paths) for (const imported of importsOf(root, path)) paths.add(imported);
  for (const path of PROVED.flatMap((each) => filesAt(root, each))) paths.add(path);
  return [...paths].map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/** Files of the project that a file imports, types included. */
function importsOf(root: string, path: string): string[] {
  const found = readFileSync(join(root, path), 'utf8').matchAll(/(?:from |import\()'(\.[^']+\.ts)'/g);
  return [...found].map(([, to = '']) => join(dirname(path), to));
}

function filesAt(root: string, path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  return readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) =>
    filesAt(root, `${path}/${entry.name}`),
  );
}
