import { expect, test } from 'vitest';
import { nextPulls } from '../../src/checks/status.ts';

const schedule = { name: 'all', cron: '0 * * * *', timezone: 'UTC' };
const slots = [
  { ...schedule, name: 'often', kinds: ['products'], at: '2026-03-01 12:05:00.000' },
  { ...schedule, kinds: ['clients', 'providers'], at: '2026-03-01 13:00:00.000' },
];
const again = (kind: string, at: string) => ({
  kind,
  schedule: 'all',
  slot: new Date('2026-03-01T12:00:00Z'),
  attempt: 1,
  dueAt: new Date(at),
});

test('a kind that is read again before its next slot is named with that instant', () => {
  const repeats = [again('clients', '2026-03-01T12:02:00Z'), again('products', '2026-03-01T12:15:00Z')];
  expect(nextPulls(slots, ['clients', 'products', 'providers', 'bookings'], repeats)).toEqual([
    { kind: 'clients', schedule: 'all', at: '2026-03-01 12:02:00.000' },
    { kind: 'products', schedule: 'often', at: '2026-03-01 12:05:00.000' },
    { kind: 'providers', schedule: 'all', at: '2026-03-01 13:00:00.000' },
  ]);
});
