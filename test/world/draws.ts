import { playHistory, type EntryRecord, type Recording } from './history.ts';
import { check } from './invariants.ts';
import type { Finding, Invariant } from './finding.ts';
import type { Mirror } from './mirrors.ts';
import { mayBreak } from './limits.ts';
import { peculiarities } from './traits.ts';

/** One seed to play instead of all, with a line for everything that happens: `BMS_WORLD_SEED=123 npx vitest run …`. */
export const REPLAYED = process.env['BMS_WORLD_SEED'];

export const seedsFrom = (from: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_none, at) => from + at);

/** What the histories with one value of a trait have come to. */
export interface Tally {
  draws: number;
  readonly broken: Map<Invariant, number>;
  entries: number;
  /** Entries that wait for a person. */
  waiting: number;
  /** Of these, the ones whose answer was lost before the service did anything. */
  waitingLost: number;
}

/** By value of a trait, and for all together. */
export type Tallies = Map<string, Tally>;

export interface Series {
  readonly seeds: readonly number[];
  readonly mirror: Mirror;
  /** What a person types after `npx vitest run` to see one history alone. */
  readonly command: string;
}

/**
 * Plays a series of histories, each with a personality of its own, to its end, and adds what they come to.
 *
 * @throws {Error} Where some break an invariant that holds for their personality, with the commands that play them again.
 */
export async function playSeries(
  { seeds: all, mirror, command }: Series,
  tallies: Tallies = new Map(),
): Promise<Tallies> {
  const broken: string[] = [];
  const seeds = REPLAYED === undefined ? all : [Number(REPLAYED)];
  for (const seed of seeds) {
    const replay = `\n  replay: BMS_WORLD_SEED=${seed} npx vitest run ${command}`;
    const options = {
      session: await mirror.blank(),
      tables: mirror.tables,
      ...(REPLAYED !== undefined && { trace: console.log }),
    };
    const recording = await playHistory(seed, options).catch((error: unknown) => {
      throw new Error(`seed ${seed} ended in an error${replay}`, { cause: error });
    });
    const findings = check(recording);
    note(tallies, recording, findings);
    const faults = findings.filter((finding) => !mayBreak(recording, finding));
    if (faults.length > 0) broken.push(`${describeFailure(recording, faults)}${replay}`);
    if (broken.length === MOST_TOLD) break;
  }
  if (broken.length > 0) throw new Error(broken.join('\n'));
  return tallies;
}

const MOST_TOLD = 20;

function describeFailure({ seed, personality }: Recording, faults: readonly Finding[]): string {
  const lines = faults.slice(0, 10).map(({ invariant, detail }) => `  ${invariant}: ${detail}`);
  return [`seed ${seed}`, ...peculiarities(personality).map((one) => `  ${one}`), ...lines].join('\n');
}

export const ALL = 'all';
export const AS_DOCUMENTED = 'as documented';

function note(tallies: Tallies, recording: Recording, findings: readonly Finding[]): void {
  const traits = peculiarities(recording.personality);
  const { entries, service } = recording;
  const waiting = entries.filter(({ entry }) => entry.state === 'parked');
  const isLost = ({ intent }: EntryRecord): boolean =>
    service.sends.some(
      ({ kind, outcome, committed }) => kind === intent.kind && outcome !== 'answered' && committed === null,
    );
  for (const trait of [ALL, ...(traits.length === 0 ? [AS_DOCUMENTED] : traits)]) {
    const tally: Tally = tallies.get(trait) ?? {
      draws: 0,
      broken: new Map(),
      entries: 0,
      waiting: 0,
      waitingLost: 0,
    };
    tallies.set(trait, tally);
    tally.draws++;
    tally.entries += entries.length;
    tally.waiting += waiting.length;
    tally.waitingLost += waiting.filter(isLost).length;
    for (const invariant of new Set(findings.map((finding) => finding.invariant)))
      tally.broken.set(invariant, (tally.broken.get(invariant) ?? 0) + 1);
  }
}

/** The table of traits, as it stands in the documentation. */
export function tableOf(tallies: Tallies): string {
  const lines = [...tallies]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([trait, { draws, broken, ...counts }]) => {
      const count = (invariant: Invariant): number => broken.get(invariant) ?? 0;
      const waits = `${counts.waiting} of ${counts.entries} (${counts.waitingLost} lost)`;
      return `| ${[trait, draws, count('doubled'), count('falsely certified'), count('falsely deleted'), waits].join(' | ')} |`;
    });
  return [
    '| trait | draws | doubled | falsely certified | falsely deleted | waiting |',
    '|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}
