import { check as checkWrites } from '../outbound-simulation/checkers/check.ts';
import type { Recording as WriteRecording } from '../outbound-simulation/recording.ts';
import { record } from '../outbound-simulation/run-schedule.ts';
import { check as checkReads } from '../simulation/checkers/check.ts';
import { undo } from '../simulation/checkers/undo.ts';
import type { ChangeRow } from '../simulation/dump.ts';
import type { RecordedPull } from '../simulation/recording.ts';
import { aboveGround, disturbedGraves } from './books.ts';
import type { Books } from './books.ts';
import type { Soak } from './stage.ts';

/** What a day has come to. */
export interface Audit {
  /** Everything that the truth contradicts, by all checkers of both worlds; empty = all is well. */
  readonly findings: readonly string[];
  readonly recording: WriteRecording;
  /** The whole mirror, tombstones of earlier days included. */
  readonly closing: RecordedPull;
}

/** Runs all checkers over a day that has come to rest. */
export async function auditDay(soak: Soak, books: Books): Promise<Audit> {
  const whole = await record(soak.stage);
  const closing = whole.pulls.at(-1);
  if (closing === undefined) throw new TypeError('Nothing was recorded.');
  const recording = dayOf(whole, books);
  const graves = disturbedGraves(closing.after, books.graves);
  return {
    findings: [
      ...checkWrites(recording).map(({ checker, detail }) => `${checker}: ${detail}`),
      ...checkReading(soak, recording).map(({ checker, kind, detail }) => `${checker} (${kind}): ${detail}`),
      ...graves.map((detail) => `tombstone: ${detail}`),
    ],
    recording,
    closing,
  };
}

/** The part of a recording that began with the day. */
function dayOf(whole: WriteRecording, { opening, graves }: Books): WriteRecording {
  const pulls = [opening, ...whole.pulls].map((pull) => ({
    ...pull,
    after: aboveGround(pull.after, graves),
  }));
  return {
    ...whole,
    pulls: pulls.map((pull) => (pull.runId < 0 ? pull : { ...pull, ...spanOf(pulls, pull.runId) })),
    changes: whole.changes.filter(({ seq }) => seq > opening.after.lastSeq),
    final: aboveGround(whole.final, graves),
  };
}

/** A run whose process dies is begun anew under the same number: what it found, it found in any of its lives. */
function spanOf(pulls: readonly RecordedPull[], runId: number): Pick<RecordedPull, 'fromMs' | 'toMs'> {
  const lives = pulls.filter((pull) => pull.runId === runId);
  return {
    fromMs: Math.min(...lives.map(({ fromMs }) => fromMs)),
    toMs: Math.max(...lives.map(({ toMs }) => toMs)),
  };
}

/** The checkers of the sweeps' simulation, for the list that is only read. */
function checkReading({ plan, read, readPlan }: Soak, { pulls, changes }: WriteRecording) {
  const { ledger } = read.world;
  const ledgers = new Map([[ledger.kind, ledger]]);
  const schedule = { ...NO_SCHEDULE, seed: plan.seed, kinds: [readPlan] };
  return checkReads({ schedule, ledgers, pulls, changes, lying: null });
}

const NO_SCHEDULE = {
  busy: { faults: { passing: 0, nonsense: 0 }, churn: 0, changes: [], slowestMs: 0 },
  ...{ sweeps: 0, quietSweeps: 0, gapsMs: [], changesBetween: 0, concurrency: 4, graceSeconds: 900 },
  ...{ holdAbove: { rows: 5, share: 0.02 }, repeatBelowPages: 20, together: 0, kills: 0, clockSteps: 0 },
};

/** Records whose content is not that of the baseline once every event since has been undone. */
export function unlikeBaseline(
  baseline: RecordedPull,
  closing: RecordedPull,
  changes: readonly ChangeRow[],
): string[] {
  return [...baseline.after.kinds].flatMap(([kind, { rows }]) => {
    const present = contentsOf(closing.after.kinds.get(kind)?.rows.values() ?? []);
    const undone = undo(
      present,
      changes.filter((event) => event.kind === kind),
    );
    const expected = contentsOf(rows.values());
    const ids = [...new Set([...undone.keys(), ...expected.keys()])];
    return ids
      .filter((id) => undone.get(id) !== expected.get(id))
      .map((id) => `undo to the baseline: ${kind} ${id} is not as it was`);
  });
}

type Rows = Iterable<{ readonly id: string; readonly raw: string; readonly deletedAt: string | null }>;

const contentsOf = (rows: Rows): ReadonlyMap<string, string> =>
  new Map([...rows].filter(({ deletedAt }) => deletedAt === null).map(({ id, raw }) => [id, raw]));
