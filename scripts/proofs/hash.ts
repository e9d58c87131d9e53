import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PROOF_FOLDERS } from '../../test/support/tiers.ts';

/** Everything that a proof's answer depends on; `test/scripts/proofs.test.ts` holds it against what the proofs import. */
const PROVED: readonly string[] = [
  ...['lib', 'catalog', 'source', 'diff', 'mirror', 'pull', 'outbound', 'sandbox', 'jobs'].map(
    (folder) => `src/${folder}`,
  ),
  'migrations',
  ...PROOF_FOLDERS,
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
  return PROVED.flatMap((path) => filesAt(root, path)).map((path) => ({
    path,
    text: readFileSync(join(root, path), 'utf8'),
  }));
}

function filesAt(root: string, path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  return readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) =>
    filesAt(root, `${path}/${entry.name}`),
  );
}
