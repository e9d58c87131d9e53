import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLACES, emptyTally, type Tally } from './watch.ts';

const fileIn = (folder: string): string => join(folder, 'tallies.jsonl');
const startsIn = (folder: string): string => join(folder, 'starts');

/** Records that a test file is watched; a file whose tests are all skipped has no tally. */
export function noteStart(folder: string): void {
  appendFileSync(startsIn(folder), '.');
}

/** How many test files were watched. */
export const startsNotedIn = (folder: string): number =>
  existsSync(startsIn(folder)) ? readFileSync(startsIn(folder)).length : 0;

/** Leaves word of what one test file has looked at. */
export function writeTally(folder: string, tally: Tally): void {
  appendFileSync(fileIn(folder), `${JSON.stringify(tally)}\n`);
}

/** What the test files have looked at, each by itself. */
export function talliesIn(folder: string): Tally[] {
  if (!existsSync(fileIn(folder))) return [];
  const lines = readFileSync(fileIn(folder), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Tally);
}

export function sumOf(tallies: readonly Tally[]): Tally {
  const sum = emptyTally();
  for (const tally of tallies)
    for (const place of PLACES) {
      sum[place].count += tally[place].count;
      sum[place].bytes += tally[place].bytes;
      sum[place].ms += tally[place].ms;
    }
  return sum;
}

/** The tally for a person, a line for each place. */
export function tallyText(tally: Tally): string {
  const lines = PLACES.map((place) => {
    const { count, bytes, ms } = tally[place];
    return `  ${String(count).padStart(8)} ${place}, ${(bytes / 1e6).toFixed(1)} MB, ${(ms / 1000).toFixed(1)} s\n`;
  });
  return `Secrets of the tests were looked for in:\n${lines.join('')}`;
}

/** Fails where a place was never looked at in a whole run: there a leak would not have been found. */
export function expectAllWatched(tally: Tally): void {
  const unwatched = PLACES.filter((place) => tally[place].count === 0);
  if (unwatched.length > 0) throw new Error(`Nobody looked for secrets in: ${unwatched.join(', ')}.`);
}
