import { existsSync, readFileSync } from 'node:fs';

const STAT = '/proc/self/stat';
const TICKS_PER_SECOND = 100;

/** Returns what this process has taken of the processor so far; on Linux its ended children as well. */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  if (!existsSync(STAT)) return (user + system) / 1e6;
  const [, fields = ''] = readFileSync(STAT, 'utf8').split(') '); // After the name of the program.
  const [ofUser = 0, ofSystem = 0] = fields.split(' ').slice(13, 15).map(Number);
  return (user + system) / 1e6 + (ofUser + ofSystem) / TICKS_PER_SECOND;
}
