import { expect, test } from 'vitest';
import { asOfInstant } from '../../../src/lib/time/as-of-instant.ts';

const NOW = new Date('2026-11-30T04:12:00Z');

test.each(['2026-11-30', '2026-11-29T23:13', '2026-11-30T04:13Z'])(
  '%s is in the future where it is still the day before, and says so',
  (input) => {
    expect(() => asOfInstant(input, NOW, 'America/Toronto')).toThrow(
      `${input} is in the future: in America/Toronto (schedules.timezone), it is 2026-11-29 23:12.`,
    );
  },
);

test('a day that has begun in the zone is none of the future', () => {
  expect(asOfInstant('2026-11-30', NOW, 'UTC').at).toEqual(NOW);
  expect(asOfInstant('2026-11-29', NOW, 'America/Toronto').begin).toEqual(new Date('2026-11-29T05:00:00Z'));
});
