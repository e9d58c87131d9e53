/**
 * Runs the deterministic proofs. Without an argument all of them, and `test/proofs.lock` is written once all have passed; with
 * `check` all but the longest where that lock is of other code, else a random tenth.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { newSeed, seedOf } from '../test/support/seed.ts';
import { isProof } from '../test/support/tiers.ts';
import { proofsHash, provedFiles } from './proofs/hash.ts';
import { SHARDS, planCheck, readLock, writeLock } from './proofs/lock.ts';

const ROOT = join(import.meta.dirname, '..');
const LOCK = join(ROOT, 'test/proofs.lock');
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');

/** Ten thousand histories take a quarter of an hour: a share of them is among the tests, and of malformed answers among the shorter proofs. */
const LONG = [
  'world/first-half',
  'world/second-half',
  'world/postgres',
  'world/planted-bugs',
  'malformed/more-malformed-answers',
  'features/deletable',
].map((name) => `test/${name}.test.ts`);

if (process.argv[2] === 'check') check();
else prove();

function check(): void {
  const plan = planCheck(readLock(LOCK), hashNow(), Math.random());
  if (plan.run === 'all') {
    console.log(`All proofs run: ${plan.why}.`);
    process.exitCode = runProofs({ seed: seedOf(process.env), args: shorterProofs() });
    return;
  }
  console.log(`The proved code is that of test/proofs.lock: shard ${plan.shard} of ${SHARDS} runs.`);
  process.exitCode = runProofs({
    seed: seedOf(process.env),
    args: [...shorterProofs(), `--shard=${plan.shard}/${SHARDS}`],
  });
}

function prove(): void {
  const hash = hashNow();
  const startedAt = performance.now();
  const seed = process.env['BMS_TEST_SEED'] === undefined ? newSeed() : seedOf(process.env);
  const code = runProofs({ seed });
  process.exitCode = code;
  if (code !== 0) return;
  if (hashNow() !== hash) throw new Error('The proved code changed while the proofs ran: run them again.');
  writeLock(LOCK, {
    hash,
    node: process.version,
    files: proofFiles().length,
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    date: new Date().toISOString().slice(0, 10),
  });
  console.log('test/proofs.lock was written.');
}

function hashNow(): string {
  return proofsHash(provedFiles(ROOT), process.version);
}

function proofFiles(): string[] {
  return provedFiles(ROOT)
    .map(({ path }) => path)
    .filter(isProof);
}

function shorterProofs(): string[] {
  return proofFiles().filter((path) => !LONG.includes(path));
}

interface ProofRun {
  /** What properties draw from; simulations have seeds of their own. */
  readonly seed: number;
  readonly args?: readonly string[];
}

/** Runs vitest without settings of ours, such as the one schedule to replay: the lock speaks of the proofs as they are. */
function runProofs({ seed, args = [] }: ProofRun): number {
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('BMS_'));
  const { status, error } = spawnSync(process.execPath, [VITEST, 'run', ...args], {
    cwd: ROOT,
    env: { ...Object.fromEntries(env), BMS_TEST_TIER: 'proofs', BMS_TEST_SEED: String(seed) },
    stdio: 'inherit',
  });
  if (error !== undefined) throw error;
  return status ?? 1; // Null where a signal ended it.
}
