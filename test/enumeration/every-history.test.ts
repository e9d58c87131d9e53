import { describe, expect, test } from 'vitest';
import { goThroughHistories, type Entry, type Figures, type Shape } from './histories.ts';
import type { Sighting } from '../../src/diff/certify.ts';

/** `BMS_TEST_DEEP=1` takes the larger sizes too. */
const isDeep = process.env['BMS_TEST_DEEP'] === '1';
const TIME = isDeep ? 3_600_000 : 240_000;

const BARE = { proof: 'bare pages', known: true } as const;
const META = { proof: 'meta', known: true } as const;

const SHAPES: readonly Shape[] = [
  { rows: 4, perPage: 2, sweeps: 1, changes: 3, inFlight: 2, ...BARE },
  { rows: 5, perPage: 2, sweeps: 1, changes: 2, inFlight: 3, ...BARE },
  { rows: 3, perPage: 1, sweeps: 1, changes: 2, inFlight: 3, ...BARE, lateSends: true },
  { rows: 3, perPage: 1, sweeps: 3, changes: 1, inFlight: 2, ...BARE },
  { rows: 4, perPage: 2, sweeps: 2, changes: 2, inFlight: 2, ...BARE, lateSends: true },
  { rows: 3, perPage: 2, sweeps: 2, changes: 2, inFlight: 2, ...META, lateSends: true, closing: true },
  { rows: 4, perPage: 2, sweeps: 2, changes: 2, inFlight: 2, ...META, known: false, thorough: true },
];

const DEEP_SHAPES: readonly Shape[] = [
  { rows: 5, perPage: 2, sweeps: 2, changes: 2, inFlight: 3, ...BARE },
  { rows: 3, perPage: 1, sweeps: 2, changes: 2, inFlight: 2, ...BARE },
  { rows: 3, perPage: 1, sweeps: 1, changes: 3, inFlight: 2, ...BARE },
  { rows: 4, perPage: 1, sweeps: 1, changes: 2, inFlight: 3, ...BARE },
  { rows: 3, perPage: 2, sweeps: 2, changes: 3, inFlight: 2, ...META },
  { rows: 4, perPage: 2, sweeps: 2, changes: 2, inFlight: 2, ...BARE, closing: true },
];

function sum(all: readonly Figures[], name: keyof Figures): number {
  return all.reduce((total, figures) => total + figures[name], 0);
}

describe('every history of a small list, pages in flight side by side', () => {
  test(
    'gives no false certificate and no false alarm',
    () => {
      const all = (isDeep ? [...SHAPES, ...DEEP_SHAPES] : SHAPES).map((shape) => goThroughHistories(shape));
      console.log(
        `${sum(all, 'histories')} histories, ${sum(all, 'certificates')} certificates, ${sum(all, 'wrong')} false; ` +
          `absent from every sweep and yet there: ${sum(all, 'usualRuleWrong')} histories`,
      );
      expect([sum(all, 'wrong'), sum(all, 'alarms')]).toEqual([0, 0]);
      expect(sum(all, 'histories')).toBeGreaterThan(1_300_000);
      expect(sum(all, 'certificates')).toBeGreaterThan(sum(all, 'histories') / 3);
      expect(sum(all, 'usualRuleWrong')).toBeGreaterThan(0); // Of what the certificate protects from.
    },
    TIME,
  );

  test(
    'shows what numbers of responses in place of ticks would do',
    () => {
      const shape: Shape = { rows: 4, perPage: 2, sweeps: 2, changes: 2, inFlight: 2, ...BARE };
      const { histories, certificates, wrong } = goThroughHistories(shape, { chooseSightings: byNumber });
      console.log(
        `numbers of responses for ticks: ${histories} histories, ${certificates} certificates, ${wrong} false`,
      );
      expect(wrong).toBeGreaterThan(0);
    },
    TIME,
  );
});

function byNumber(log: readonly Entry[]): Sighting[] {
  const order = log.map(({ sighting }) => sighting.answered).sort((a, b) => a - b);
  return log.map(({ sighting }) => {
    const number = order.indexOf(sighting.answered);
    return { ...sighting, sent: number, answered: number };
  });
}
