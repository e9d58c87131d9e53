import type { CrashPoint } from '../outbound-simulation/crash-points.ts';
import type { EntryRecord } from '../outbound-simulation/recording.ts';

const COUNTS = {
  /** Processes that died at work on an entry. */
  crashes: 0,
  /** Processes that died in the middle of a sweep. */
  deadPulls: 0,
  /** Machines that stopped for so long that their process was taken for dead. */
  pauses: 0,
  outages: 0,
  storms: 0,
  slowSpells: 0,
  /** Times in which the token could not write a kind. */
  bars: 0,
  clockSteps: 0,
  /** Times in which the service lied. */
  lies: 0,
  reads: 0,
  /** Reads that were lost, refused or answered with an error. */
  badReads: 0,
  writes: 0,
  /** Writes that met a fault. */
  badWrites: 0,
  parked: 0,
  rejected: 0,
  adopted: 0,
  resent: 0,
};

/** What has happened so far, counted from what the simulated parts tell. */
export type Tally = typeof COUNTS & { readonly reached: Set<CrashPoint> };

export function noTally(): Tally {
  return { ...COUNTS, reached: new Set() };
}

/** What the lines of the trace begin with that tell of something. */
const TOLD: readonly (readonly [RegExp, keyof typeof COUNTS])[] = [
  [/^† /, 'crashes'],
  [/^— pull \d+ "killed"/, 'deadPulls'],
  [/^‖ /, 'pauses'],
  [/^— outage begins/, 'outages'],
  [/^— storm begins/, 'storms'],
  [/^— slow begins/, 'slowSpells'],
  [/^— \w+ barred/, 'bars'],
  [/^— the clock is set/, 'clockSteps'],
  [/^— the service lies/, 'lies'],
  [/^→ \//, 'reads'],
  [/^← \/\S+ (?!200)/, 'badReads'],
  [/^→ \w+ \/\S+ .*?for \d+ \(/, 'writes'],
  [/^→ \w+ \/\S+ .*?for \d+ \((?!delivered)/, 'badWrites'],
];

/** Counts a line of the trace. */
export function countLine(tally: Tally, line: string): void {
  for (const [pattern, name] of TOLD) if (pattern.test(line)) tally[name]++;
}

/** Counts what became of a day's entries, before a person gives up those that wait for one. */
export function countEnds(tally: Tally, entries: readonly EntryRecord[]): void {
  for (const { entry } of entries) {
    const { state, verdict } = entry;
    if (state === 'parked' || state === 'rejected') tally[state]++;
    if (state === 'done' && (verdict === 'adopted' || verdict === 'resent')) tally[verdict]++;
  }
}
