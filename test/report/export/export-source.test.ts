import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/lib/sync-error.ts';
import { asOfInstant, whyPartial, whyUnknown } from '../../../src/report/export/export-source.ts';

const NOW = new Date('2026-03-01T12:00:00Z');

test.each([
  ['2026-02-01T10:00:00Z', '2026-02-01T10:00:00.000Z'],
  ['2026-02-01T10:00:00.123456+02:00', '2026-02-01T08:00:00.123Z'],
  ['2026-02-01 10:00:00.500', '2026-02-01T10:00:00.500Z'],
  ['2026-02-01T10:00', '2026-02-01T10:00:00.000Z'],
  ['2026-02-01', '2026-02-01T23:59:59.999Z'],
  ['2026-03-01', '2026-03-01T12:00:00.000Z'],
])('%s is %s', (given, instant) => {
  expect(asOfInstant(given, NOW).toISOString()).toBe(instant);
});

test.each([
  '',
  'yesterday',
  '2026-02-30',
  '2026-02-01T25:00Z',
  '01/02/2026',
  '2026-03-02',
  '2026-03-01T12:00:01Z',
])('"%s" is refused', (given) => {
  expect(() => asOfInstant(given, NOW)).toThrow(UsageError);
});

describe('the state at an instant', () => {
  const past = {
    firstSeenAt: '2026-02-01 00:00:00.000',
    baselineAt: '2026-02-02 00:00:00.000',
    forgottenBefore: null,
  };
  const at = (text: string): Date => new Date(text);

  test('is unknown before the first record was read, and where events were removed', () => {
    expect(whyUnknown('clients', at('2026-01-31T23:59:59.999Z'), past)).toContain('first record of clients');
    expect(whyUnknown('clients', at('2026-02-01T00:00:00Z'), past)).toBeNull();
    expect(whyUnknown('clients', NOW, { ...past, firstSeenAt: null })).toContain('no record of clients');
    const pruned = { ...past, forgottenBefore: '2026-02-20 00:00:00.000' };
    expect(whyUnknown('clients', at('2026-02-10T00:00:00Z'), pruned)).toContain('retention.changesDays');
    expect(whyUnknown('clients', at('2026-02-20T00:00:00Z'), pruned)).toBeNull();
  });

  test('is partial before the list was known whole', () => {
    expect(whyPartial('clients', at('2026-02-01T12:00:00Z'), past)).toContain('records may be missing');
    expect(whyPartial('clients', NOW, { ...past, baselineAt: null })).toContain('it still is not');
    expect(whyPartial('clients', NOW, past)).toBeNull();
  });
});
