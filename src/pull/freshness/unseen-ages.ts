import { ratesOf } from './change-rates.ts';
import type { ReadableList } from './choose-read.ts';
import { pageCount } from './watched-list.ts';
import type { WatchedList } from './watched-list.ts';

/** Ages of changes, in seconds: half of them, and nineteen in twenty, are younger. */
interface AgeQuantiles {
  readonly p50: number;
  readonly p95: number;
}

/** Changes that come at a rate, and may have come at any instant of a time. */
interface Span {
  readonly perMinute: number;
  readonly seconds: number;
}

const [SECOND_MS, MINUTE_MS] = [1000, 60_000];

/**
 * The expected age of what the service has and nobody has seen yet: updates of each page since it was read, and records that came
 * or went since the list last told of them.
 */
export function unseenAges(list: WatchedList, nowMs: number): AgeQuantiles {
  const pages = pageCount(list);
  const rates = ratesOf(list, pages, nowMs);
  const since = (atMs: number): number => Math.max(0, nowMs - atMs) / SECOND_MS;
  const moved = rates.created + rates.deleted;
  const readPages = Array.from({ length: pages }, (_, index): Span => {
    const perMinute = rates.ofPage(index + 1) + (list.total === null ? moved / pages : 0);
    return { perMinute, seconds: since(list.readMs[index] ?? list.agreedMs) };
  });
  const told = list.total === null ? [] : [{ perMinute: moved, seconds: since(list.totalMs) }];
  return quantilesOf(
    [...readPages, ...told].map(({ perMinute, seconds }) => ({ seconds, weight: perMinute * seconds })),
  );
}

/** Ages that are equally likely from 0 up to a length, with their share of all. */
interface Ages {
  readonly seconds: number;
  readonly weight: number;
}

function quantilesOf(all: readonly Ages[]): AgeQuantiles {
  const ages = all.filter(({ seconds, weight }) => seconds > 0 && weight > 0);
  const whole = ages.reduce((sum, { weight }) => sum + weight, 0);
  const oldest = ages.reduce((most, { seconds }) => Math.max(most, seconds), 0);
  const shareUpTo = (age: number): number =>
    ages.reduce((sum, { seconds, weight }) => sum + weight * Math.min(1, age / seconds), 0) / whole;
  return {
    p50: bisect(oldest, (age) => shareUpTo(age) >= 0.5),
    p95: bisect(oldest, (age) => shareUpTo(age) >= 0.95),
  };
}

/** The least number up to `most` from which on something holds. */
function bisect(most: number, holds: (value: number) => boolean): number {
  let [from, to] = [0, most];
  for (let turn = 0; turn < 40 && to - from > 0.01; turn++) {
    const middle = (from + to) / 2;
    if (holds(middle)) to = middle;
    else from = middle;
  }
  return to;
}

/** The pages of a list, as a forecast uses them: how often each changes in a minute, and how often sweeps read them all. */
export interface ForecastList {
  readonly ratesOfPages: readonly number[];
  /** Null: no sweep is scheduled. */
  readonly sweepMinutes: number | null;
}

export function forecastList(
  { list, sweeps }: Pick<ReadableList, 'list' | 'sweeps'>,
  nowMs: number,
): ForecastList {
  const pages = pageCount(list);
  const { ofPage } = ratesOf(list, pages, nowMs);
  return {
    ratesOfPages: Array.from({ length: pages }, (_, index) => ofPage(index + 1)),
    sweepMinutes: sweeps === null ? null : sweeps.everyMs / MINUTE_MS,
  };
}

const LONGEST_MINUTES = 1440;
const ROUNDS = 20;

/**
 * How late changes would be seen with a budget of requests: pages are read at intervals proportional to 1/√rate, and at the latest
 * by the next sweep.
 */
export function forecastDelays(lists: readonly ForecastList[], requestsPerMinute: number): AgeQuantiles {
  const pages = lists.flatMap(({ ratesOfPages, sweepMinutes }) =>
    ratesOfPages.map((rate) => ({ rate, most: sweepMinutes ?? LONGEST_MINUTES })),
  );
  let scale = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const read = pages.filter(({ rate, most }) => round === 0 || scale / Math.sqrt(rate) < most);
    scale = read.reduce((sum, { rate }) => sum + Math.sqrt(rate), 0) / requestsPerMinute;
  }
  return quantilesOf(
    pages.map(({ rate, most }) => ({ weight: rate, seconds: 60 * Math.min(most, scale / Math.sqrt(rate)) })),
  );
}
