import { describe, expect, test } from 'vitest';
import { notedProgress, progressLine } from '../../../src/cli/parts/progress-line.ts';
import type { KindProgress } from '../../../src/cli/parts/progress-line.ts';

const reading = (more: Partial<KindProgress> = {}): KindProgress => ({
  ...{ kind: 'clients', place: 2, pages: 12, lastPage: 60, rows: 1_200 },
  ...{ startedMs: 1_000, latestMs: 5_000, endedMs: null },
  ...more,
});

describe('the line of a kind', () => {
  test('has rows, pages, rate and time left, and which of how many kinds it is', () => {
    expect(progressLine(reading(), 5_000, 10)).toBe(
      'clients (2 of 10)  1,200 rows  page 12 of 60  300 rows/s  16 s left',
    );
  });

  test('says that the service is waited for, once that takes three seconds', () => {
    expect(progressLine(reading(), 7_999, 10)).not.toContain('waiting');
    expect(progressLine(reading(), 17_000, 10)).toContain('waiting for the service, 12 s');
    const unanswered = reading({ pages: 0, lastPage: null, rows: 0, latestMs: 1_000 });
    expect(progressLine(unanswered, 13_000, 10)).toBe(
      'clients (2 of 10)  0 rows  waiting for the service, 12 s',
    );
  });

  test('of a list that was read blames no service for our own work', () => {
    const read = reading({ pages: 60, isRead: true });
    expect(progressLine(read, 65_000, 10)).toContain('comparing with the mirror');
    expect(progressLine(read, 65_000, 10)).not.toContain('waiting');
  });

  test('of a kind that ended keeps its time', () => {
    const ended = reading({ pages: 60, rows: 6_000, endedMs: 131_000 });
    expect(progressLine(ended, 999_000, 10)).toBe('clients (2 of 10)  6,000 rows  page 60 of 60  2 min 10 s');
  });
});

test('a kind that is told of begins, and the one before it has ended', () => {
  const began = notedProgress([], { kind: 'clients', pages: 0, lastPage: null, rows: 0 }, 1_000);
  const went = notedProgress(began, { kind: 'clients', pages: 3, lastPage: 3, rows: 300 }, 2_000);
  const both = notedProgress(went, { kind: 'products', pages: 0, lastPage: null, rows: 0 }, 4_000);

  expect(both).toMatchObject([
    { kind: 'clients', place: 1, startedMs: 1_000, latestMs: 2_000, endedMs: 4_000, rows: 300 },
    { kind: 'products', place: 2, startedMs: 4_000, endedMs: null },
  ]);
});
