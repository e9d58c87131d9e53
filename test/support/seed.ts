import { randomInt } from 'node:crypto';
import { tierOf } from './tiers.ts';

/** What `npm test` draws from, and a file that is run by its name: a rare find must not fail a change that is not its cause. */
const FIXED = 20_260_301;

export const newSeed = (): number => randomInt(2 ** 31);

/** The seed of a run: `BMS_TEST_SEED` where that is set, a new one where a run is there to find something, else always the same. */
export function seedOf(env: Readonly<Record<string, string | undefined>>): number {
  const named = env['BMS_TEST_SEED'];
  if (named === undefined)
    return tierOf(env) === 'acceptance' || env['BMS_TEST_DEEP'] === '1' ? newSeed() : FIXED;
  const seed = Number(named);
  if (!Number.isInteger(seed)) throw new Error(`BMS_TEST_SEED is ${named}, expected a whole number.`);
  return seed;
}
