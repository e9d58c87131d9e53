import { expect, test } from 'vitest';
import { countedWords, lastReadWords, type KindLine } from '../../../src/dashboard/parts/kinds.ts';
import { createReaders } from '../../../src/dashboard/parts/reader.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { NOON_TEXT, later } from '../../store/temp-mirror.ts';

test('a reading whose time has come is due, and not ahead', () => {
  const reader = createReaders('UTC', { ...fakeClock(), now: () => later(4_000) })('en');
  const line = { lastSweepAt: null, nextAt: NOON_TEXT } as KindLine;
  expect(JSON.stringify(lastReadWords(line, reader))).toContain('due now');
});

test('counts have their time beside them, if they are not of now', () => {
  const reader = createReaders('UTC', { ...fakeClock(), now: () => later(180_000) })('en');
  const line = { countedAt: NOON_TEXT } as KindLine;
  expect(JSON.stringify(countedWords([line], reader))).toMatch(/Counted .*3 min ago/);
  expect(countedWords([{ ...line, countedAt: null }], reader)).toBeNull();
});
