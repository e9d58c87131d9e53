/**
 * Measures the delays of reading between sweeps on simulated days, and writes them into docs/freshness.md and
 * docs/freshness.svg. `-- --hours 24 --seed a` are the usual ones; the same seed gives the same figures.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { EIGHT_IN_TEN, NINE_IN_TEN } from '../test/pull/freshness/delay-world.ts';
import type { Churn } from '../test/pull/freshness/delay-world.ts';
import { DAYS, USUAL_REQUESTS, playDay, sweepsAlone, sweepsSeldom } from './freshness/days.ts';
import type { Day, DayPlan } from './freshness/days.ts';
import { plotOf } from './freshness/plot.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGE = join(ROOT, 'docs/freshness.md');
const MARKED = /(<!-- delays -->).*(<!-- \/delays -->)/s;
/** What the figures depend on. */
const MEASURED = ['src/pull/freshness', 'test/pull/freshness', 'scripts/freshness'];

const { values: options } = parseArgs({
  options: { hours: { type: 'string', default: '24' }, seed: { type: 'string', default: 'a' } },
});
const hours = Number(options.hours);
const { seed } = options;

const git = (...words: readonly string[]): string =>
  execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim();

function measuredCommit(): string {
  const changed = git('status', '--porcelain', '--', ...MEASURED);
  return `\`${git('log', '-1', '--format=%h', '--', ...MEASURED)}\`${changed === '' ? '' : ' with changes'}`;
}

function play(plan: DayPlan): Day {
  const started = Date.now();
  const day = playDay(plan, { hours, seed });
  console.log(`${plan.way}, ${textOf(plan)}: ${((Date.now() - started) / 1000).toFixed(0)} s to simulate`);
  return day;
}

const textOf = ({ sweepMinutes, perMinute }: DayPlan): string =>
  `${every(sweepMinutes)} | ${perMinute === null ? 'none' : perMinute.toFixed(0)}`;

const every = (minutes: number): string => (minutes < 60 ? `${minutes} min` : `${minutes / 60} h`);

const delay = (seconds: number): string =>
  seconds < 180 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(1)} min`;

function tableOf(days: readonly Day[]): string {
  const head = ['sweeps every', 'budget', 'requests a minute', 'new, by creation', 'new, by total'];
  const rows = days.map((day) => {
    const { byCreation, byTotal, withoutTotal, deleted, updated } = day;
    const delays = [byCreation, byTotal, withoutTotal, deleted, updated].map(delay);
    return `| ${[textOf(day), day.requests.toFixed(0), ...delays].join(' | ')} |`;
  });
  return [
    `| ${[...head, 'new, no total', 'deletions', 'updates'].join(' | ')} |`,
    '|---|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** How much sooner updates are seen than with sweeps alone, for the same requests. */
function comparison(days: readonly Day[]): string {
  const shareIn = (churn: Churn): string => {
    const [alone, seldom] = [sweepsAlone(15, churn), sweepsSeldom(1, churn)].map(
      (plan) => days.find((day) => isDeepStrictEqual(planOf(day), plan)) ?? play(plan),
    );
    return `${((seldom?.updated ?? NaN) / (alone?.updated ?? NaN)).toFixed(2)} ×`;
  };
  return `For the requests of sweeps every 15 minutes (${USUAL_REQUESTS.toFixed(0)} a minute), updates are seen after ${shareIn(NINE_IN_TEN)} the
time that sweeps alone take, if nine changes in ten fall on a tenth of the pages; after ${shareIn(EIGHT_IN_TEN)}, if eight in ten fall
on a fifth.`;
}

const planOf = ({ way, sweepMinutes, perMinute, churn }: Day): DayPlan => ({
  way,
  sweepMinutes,
  perMinute,
  churn,
});

const commit = measuredCommit();
const days = DAYS.map(play);
const { creates, deletions, updates } = NINE_IN_TEN;
const text = `Measured at ${commit} with the seed \`${seed}\`: ${hours} simulated hours, of which the first two do not count.
Each minute has ${creates} new records, ${deletions} deletions and ${updates} updates.

${tableOf(days)}

${comparison(days)}`;

const page = readFileSync(PAGE, 'utf8');
if (!MARKED.test(page)) throw new Error('docs/freshness.md has no <!-- delays --> … <!-- /delays -->');
writeFileSync(
  PAGE,
  page.replace(MARKED, (_, open: string, close: string) => `${open}\n\n${text}\n\n${close}`),
);
writeFileSync(join(ROOT, 'docs/freshness.svg'), plotOf(days));
