import type { Session } from '../../src/db/session/session.ts';
import type { Doubles } from './pull-once.ts';
import { playScenario } from './scenario.ts';

/** One seed to play instead of all, with every answer shown: `BMS_MALFORMED_SEED=123 npx vitest run …`. */
const REPLAYED = process.env['BMS_MALFORMED_SEED'];

export interface Series {
  readonly open: () => Promise<Session>;
  /** The first seed; each series has seeds of its own. */
  readonly from: number;
  /** So many malformed answers are fired, or a few more. */
  readonly responses: number;
  readonly doubles?: () => Doubles;
}

/** How often each word came. */
export type Counts = Map<string, number>;

export interface Totals {
  responses: number;
  scenarios: number;
  pulls: number;
  deleted: number;
  readonly classes: Counts;
  readonly codes: Counts;
}

export const noTotals = (): Totals => ({
  responses: 0,
  scenarios: 0,
  pulls: 0,
  deleted: 0,
  classes: new Map(),
  codes: new Map(),
});

/**
 * Plays scenarios until enough malformed answers were fired.
 *
 * @throws {Error} At the first one that goes wrong, with the command that plays it again.
 */
export async function playSeries({ open, from, responses, doubles }: Series, totals: Totals): Promise<void> {
  const enough = totals.responses + responses;
  for (let seed = Number(REPLAYED ?? from); totals.responses < enough; seed++) {
    const trace = REPLAYED === undefined ? {} : { trace: console.log };
    const played = await playScenario(seed, {
      session: await open(),
      ...(doubles && { doubles: doubles() }),
      ...trace,
    });
    if (played.problems.length > 0) {
      const replay = `BMS_MALFORMED_SEED=${seed} npx vitest run test/malformed/malformed-answers.test.ts -t "series 1:"`;
      throw new Error(`seed ${seed}\n  ${played.problems.slice(0, 6).join('\n  ')}\n  replay: ${replay}`);
    }
    totals.responses += played.answers.length;
    totals.scenarios++;
    totals.pulls += played.pulls;
    totals.deleted += played.deleted;
    for (const { mutation, code } of played.answers) {
      count(totals.classes, mutation);
      count(totals.codes, code);
    }
    if (REPLAYED !== undefined) return;
  }
}

function count(counts: Counts, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}

/** What was fired and what became of it, most frequent first. */
export function summary({ responses, scenarios, pulls, deleted, classes, codes }: Totals): string {
  const lines = (counts: Counts): string[] =>
    [...counts]
      .sort(([, a], [, b]) => b - a)
      .map(([word, times]) => `  ${String(times).padStart(6)} ${word}`);
  return [
    `${responses} malformed answers, ${scenarios} scenarios, ${pulls} pulls, ${deleted} proven deletions`,
    'by class:',
    ...lines(classes),
    'by what became of them:',
    ...lines(codes),
    '',
  ].join('\n');
}
