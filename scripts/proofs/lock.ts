import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

const schema = z.object({
  hash: z.string(),
  node: z.string(),
  files: z.int(),
  seconds: z.number(),
  date: z.string(),
});

/** What is known of the last time that all proofs passed: the code, the Node version and the duration. */
export type ProofsLock = z.infer<typeof schema>;

/** Null where there is no lock. */
export function readLock(path: string): ProofsLock | null {
  return existsSync(path) ? schema.parse(JSON.parse(readFileSync(path, 'utf8'))) : null;
}

export function writeLock(path: string, lock: ProofsLock): void {
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
}

export const SHARDS = 10;

export type ProofsPlan =
  { readonly run: 'all'; readonly why: string } | { readonly run: 'shard'; readonly shard: number };

/** All proofs if this very code is unproven; else a tenth of them. `draw` is from 0 up to 1. */
export function planCheck(lock: ProofsLock | null, hash: string, draw: number): ProofsPlan {
  if (lock === null) return { run: 'all', why: 'there is no proofs.lock' };
  if (lock.hash !== hash) return { run: 'all', why: 'the proved code differs from that of proofs.lock' };
  return { run: 'shard', shard: 1 + Math.floor(draw * SHARDS) };
}
