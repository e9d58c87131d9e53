import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quietestHour } from '../../../src/jobs/schedule/quietest-hour.ts';

const busy = (...quiet: readonly (readonly [number, number])[]): number[] => {
  const counts = Array<number>(24).fill(100);
  for (const [hour, count] of quiet) counts[hour] = count;
  return counts;
};

describe('the quietest hour', () => {
  test.each([
    [[[3, 10]], 3],
    [[[3, 10], [4, 9]], 4], // prettier-ignore
    [[[2, 0], [3, 0], [4, 0]], 3], // prettier-ignore
    [[[23, 0], [0, 0], [1, 0]], 0], // prettier-ignore
    [[[3, 60]], null],
    [[], null],
  ] as const)('where %j stand out is %s', (quiet, expected) => {
    expect(quietestHour({ counts: busy(...quiet), days: 3 })).toBe(expected);
  });

  test('is not known from one day, nor from a kind that never changes', () => {
    expect(quietestHour({ counts: busy([3, 0]), days: 1 })).toBeNull();
    expect(quietestHour({ counts: Array<number>(24).fill(0), days: 0 })).toBeNull();
  });

  test('is one of the least changes, whatever the counts are', () => {
    const counts = fc.array(fc.nat({ max: 50 }), { minLength: 24, maxLength: 24 });
    fc.assert(
      fc.property(counts, (given) => {
        const hour = quietestHour({ counts: given, days: 7 });
        if (hour !== null) expect(given[hour]).toBe(Math.min(...given));
      }),
    );
  });
});
