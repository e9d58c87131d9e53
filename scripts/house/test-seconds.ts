import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TierSeconds {
  readonly tier: string;
  readonly seconds: number;
  /** Of the processor, without the servers of the run. */
  readonly processor: number;
  readonly files: number;
}

/** How long the test files of each tier took when they ran last on this machine; nothing where they never did. */
export function testSeconds(): TierSeconds[] {
  const path = join(import.meta.dirname, '../../coverage/test-seconds.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as TierSeconds[]) : [];
}
