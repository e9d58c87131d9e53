import { describe, expect, test } from 'vitest';
import type { Sighting } from '../../src/diff/certify.ts';
import { judgeRuns, type Bug, type LandedAnswer, type RandomFigures, type Scene } from './random-run.ts';

const isDeep = process.env['BMS_TEST_DEEP'] === '1';
const SEEDS = isDeep ? 5000 : 150;
const TIME = isDeep ? 3_600_000 : 120_000;

const ORDERS = ['newest first', 'by code', 'ties'] as const;

function scenes(orders: readonly (typeof ORDERS)[number][], isTotalCached = false): Scene[] {
  return orders.flatMap((order) =>
    [0.02, 0.2, 1].flatMap((rate) => [2, 4, 8].map((inFlight) => ({ order, rate, inFlight, isTotalCached }))),
  );
}

function report(name: string, { runs, verdicts, certificates, wrong, usualRuleWrong }: RandomFigures): void {
  console.log(
    `${name}: ${runs} runs, ${verdicts} verdicts, ${certificates} certificates, ${wrong} false; ` +
      `"absent three times running" false in ${usualRuleWrong}`,
  );
}

describe('sweeps over moving lists, at random', () => {
  test.each([
    ['honest totals', false],
    ['totals as old as they please', true],
  ])(
    '%s: no certificate is false; "absent three times running" is',
    (name, isTotalCached) => {
      const figures = judgeRuns(SEEDS, scenes(ORDERS, isTotalCached));
      report(name, figures);
      expect(figures.wrong).toBe(0);
      expect(figures.certificates).toBeGreaterThan(figures.runs / 10);
      expect(figures.usualRuleWrong).toBeGreaterThan(0);
    },
    TIME,
  );
});

/** The input of the certificate with a plausible mistake. */
const BUGS: readonly [string, boolean, Bug][] = [
  [
    'rows that these sweeps landed, as known before',
    false,
    (landed) => ({
      responses: landed.map(({ sighting }) => sighting),
      known: landed.flatMap(({ shown }) => shown.keys),
    }),
  ],
  [
    'the total alone trusted',
    true,
    (landed, known) => ({
      responses: landed.map(({ sighting }) => ({ ...sighting, endRows: sighting.total })),
      known,
    }),
  ],
  ['a full last page trusted', true, (landed, known) => ({ responses: landed.map(trustFullPage), known })],
];

function trustFullPage({ sighting, shown }: LandedAnswer): Sighting {
  const isTrusted = shown.rows.length === shown.meta.perPage && shown.meta.lastPage === shown.page;
  return isTrusted ? { ...sighting, endRows: shown.page * shown.rows.length } : sighting;
}

describe('a planted bug is caught', () => {
  test.each(BUGS)(
    '%s',
    (name, isTotalCached, bug) => {
      const figures = judgeRuns(SEEDS, scenes(['newest first', 'by code'], isTotalCached), bug);
      report(name, figures);
      expect(figures.wrong).toBeGreaterThan(0);
    },
    TIME,
  );
});
