import { expect, test } from 'vitest';
import { createReaders } from '../../../src/dashboard/parts/reader.ts';
import type { Language } from '../../../src/lib/text/translator.ts';
import { formatInstant } from '../../../src/lib/time/clock.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { NOON, later } from '../../store/temp-mirror.ts';

const readers = createReaders('America/Toronto', { ...fakeClock(), now: () => NOON });

const LENGTHS = [0, 31_000, 240_000, 5 * 3_600_000, 12 * 86_400_000];

const readerText = (language: Language, ms: number): string =>
  readers(language).when(formatInstant(later(ms))).html;

test('a length of time is told in its largest unit', () => {
  expect(LENGTHS.map(readers('en').durationText)).toEqual(['0 s', '31 s', '4 min', '5 h', '12 days']);
  expect(LENGTHS.map(readers('fr').durationText)).toEqual([
    '0\u00a0s',
    '31\u00a0s',
    '4\u00a0min',
    '5\u00a0h',
    '12\u00a0jours',
  ]);
});

test.each([
  ['en', -240_000, '4 min ago'],
  ['en', 240_000, 'in 4 min'],
  ['en', 0, 'just now'],
  ['fr', -240_000, 'il y a 4\u00a0min'],
  ['fr', 240_000, 'dans 4\u00a0min'],
  ['fr', 0, 'à l’instant'],
] as const)('in %s, an instant %d ms away is told as %s', (language, ms, words) => {
  expect(readerText(language, ms)).toContain(`>${words}<`);
});

test('an instant is a short date of the language, with the whole instant and its zones in the title', () => {
  const instant = '2026-03-02 14:05:09.000';
  const whole = 'title="2026-03-02 09:05:09 America/Toronto, 2026-03-02 14:05:09.000 UTC"';
  expect(readers('en').exactTime(instant).html).toContain(`${whole}>2 Mar 2026, 09:05<`);
  expect(readers('fr').exactTime(instant).html).toContain(`${whole}>2 mars 2026, 09 h 05<`);
});
