import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/lib/sync-error.ts';
import { asOfInstant } from '../../../src/lib/time/as-of-instant.ts';
import { partialReason, unknownReason } from '../../../src/features/export/export-source.ts';

const NOW = new Date('2026-03-01T12:00:00Z');

test.each([
  ['2026-02-01T10:00:00Z', '2026-02-01T10:00:00.000Z', true],
  ['2026-02-01T10:00:00.123456+02:00', '2026-02-01T08:00:00.123Z', true],
  ['2026-02-01 10:00:00.500', '2026-02-01T10:00:00.500Z', true],
  ['2026-02-01 10:00:00', '2026-02-01T10:00:00.000Z', false],
  ['2026-02-01T10:00', '2026-02-01T10:00:00.000Z', false],
  ['2026-02-01', '2026-02-01T23:59:59.999Z', false],
  ['2026-03-01', '2026-03-01T12:00:00.000Z', false],
])('%s is %s, with a zone: %s', (text, instant, isZoned) => {
  expect(asOfInstant(text, NOW, 'UTC')).toMatchObject({ at: new Date(instant), isZoned });
});

test.each([
  ['2026-02-01T10:00', '2026-02-01T15:00:00.000Z'],
  ['2026-02-01T10:00Z', '2026-02-01T10:00:00.000Z'],
  ['2026-02-01 10:00:00 UTC', '2026-02-01T10:00:00.000Z'], // As tables and letters print it.
  ['2026-02-01 10:00:00.500', '2026-02-01T10:00:00.500Z'], // As the mirror stores it.
  ['2026-02-01', '2026-02-02T04:59:59.999Z'],
  ['2025-03-09', '2025-03-10T03:59:59.999Z'], // Of 23 hours.
  ['2025-03-09T02:30', '2025-03-09T06:30:00.000Z'], // No clock showed it.
  ['2025-11-02T01:30', '2025-11-02T05:30:00.000Z'], // Shown twice.
  ['2025-11-02T03:00', '2025-11-02T08:00:00.000Z'],
  ['2025-11-02', '2025-11-03T04:59:59.999Z'], // Of 25 hours.
])('%s in Montréal is %s', (text, instant) => {
  const { at } = asOfInstant(text, NOW, 'America/Montreal');
  expect(at.toISOString()).toBe(instant);
});

test.each([
  '',
  'yesterday',
  '2026-02-30',
  '2026-02-01T25:00Z',
  '01/02/2026',
  '2026-03-02',
  '2026-03-01T12:00:01Z',
])('"%s" is refused', (text) => {
  expect(() => asOfInstant(text, NOW, 'UTC')).toThrow(UsageError);
});

describe('the state at an instant', () => {
  const past = {
    firstSeenAt: '2026-02-01 00:00:00.000',
    baselineAt: '2026-02-02 00:00:00.000',
    forgottenBefore: null,
  };
  const at = (text: string): Date => new Date(text);

  test('is unknown before the first record was read, and where events were removed', () => {
    expect(unknownReason('clients', at('2026-01-31T23:59:59.999Z'), past)).toContain(
      'first record of clients',
    );
    expect(unknownReason('clients', at('2026-02-01T00:00:00Z'), past)).toBeNull();
    expect(unknownReason('clients', NOW, { ...past, firstSeenAt: null })).toContain('no record of clients');
    const pruned = { ...past, forgottenBefore: '2026-02-20 00:00:00.000' };
    expect(unknownReason('clients', at('2026-02-10T00:00:00Z'), pruned)).toContain('retention.changesDays');
    expect(unknownReason('clients', at('2026-02-20T00:00:00Z'), pruned)).toBeNull();
  });

  test('is partial before the list was known whole', () => {
    expect(partialReason('clients', at('2026-02-01T12:00:00Z'), past)).toContain('records may be missing');
    expect(partialReason('clients', NOW, { ...past, baselineAt: null })).toContain('it still is not');
    expect(partialReason('clients', NOW, past)).toBeNull();
  });
});
