import { expect, test } from 'vitest';
import { wholeSweeps } from '../../../src/jobs/schedule.ts';

const MINUTE = 60_000;

test('the next whole sweep of a kind is that of the schedule that comes first', () => {
  const at = (minute: number): Date => new Date(Date.parse('2026-03-01T12:00:00Z') + minute * MINUTE);
  const schedule = { timezone: 'UTC', kinds: ['clients'], pages: null };
  const sweepsOf = wholeSweeps([
    { ...schedule, cron: '*/10 * * * *', pages: 2 },
    { ...schedule, cron: '30 * * * *' },
    { ...schedule, cron: '10 13 * * *' },
  ]);
  expect(sweepsOf('clients', at(1))).toEqual({ nextMs: at(30).getTime(), everyMs: 60 * MINUTE });
  expect(sweepsOf('clients', at(31))).toEqual({ nextMs: at(70).getTime(), everyMs: 1440 * MINUTE });
  expect(sweepsOf('products', at(1))).toBeNull();
});
