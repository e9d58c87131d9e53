import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../lib/time/clock.ts';

/** Codes that sign a browser in once, so that a link needs no token. */
export interface SignInCodes {
  /** Makes a code that is good once, for ten minutes. */
  readonly issue: () => string;
  /** Uses a code up; false if it is unknown, used or too old. */
  readonly redeem: (code: string) => boolean;
}

const LIFE_MS = 600_000;
const MOST = 100;

/** Keeps codes in the memory of this process, as hashes. */
export function createSignInCodes(clock: Pick<Clock, 'monotonicMs'>): SignInCodes {
  const until = new Map<string, number>();
  return {
    issue: () => {
      const code = randomBytes(24).toString('base64url');
      const [oldest] = until.keys();
      if (until.size >= MOST && oldest !== undefined) until.delete(oldest);
      until.set(hashOf(code), clock.monotonicMs() + LIFE_MS);
      return code;
    },
    redeem: (code) => {
      const hash = hashOf(code);
      const end = until.get(hash);
      until.delete(hash);
      return end !== undefined && clock.monotonicMs() < end;
    },
  };
}

const hashOf = (code: string): string => createHash('sha256').update(code).digest('base64');
