import { expect, test } from 'vitest';
import type { Change } from '../../../src/diff/compare-page.ts';
import { isWanted, scheduleDeliveries } from '../../../src/feed/webhooks/schedule-deliveries.ts';

const ALL = { kinds: null, changes: null, fields: null, publicId: 'p' };

const eventOf = (
  seq: number,
  [kind, recordId]: readonly [string, string],
  change: Change = 'updated',
  fields = '{}',
) => ({
  seq,
  kind,
  recordId,
  change,
  fields,
  observedAt: '2026-03-01 12:00:00.000',
});

test('an event has its own id at each endpoint, the same at every planning, and another if a restored mirror reuses its seq', () => {
  const plan = (publicId: string, observedAt = '2026-03-01 12:00:00.000'): string | undefined =>
    scheduleDeliveries([{ ...eventOf(7, ['clients', '1']), observedAt }], { ...ALL, publicId }, new Set())[0]
      ?.webhookId;
  expect(plan('a')).toMatch(/^msg_[0-9a-f]{32}$/);
  expect(plan('a')).toBe(plan('a'));
  expect(new Set([plan('a'), plan('b'), plan('a', '2026-03-01 12:00:00.001')]).size).toBe(3);
});

test.each([
  [{ kinds: ['products'] }, 'updated', '{"a":[1,2]}', false],
  [{ kinds: ['clients'] }, 'updated', '{"a":[1,2]}', true],
  [{ changes: ['created', 'deleted'] }, 'updated', '{"a":[1,2]}', false],
  [{ changes: ['created', 'deleted'] }, 'deleted', '{}', true],
  [{ fields: ['a'] }, 'updated', '{"a":[1,2]}', true],
  [{ fields: ['a'] }, 'updated', '{"b":[1,2]}', false],
  [{ fields: ['toString'] }, 'updated', '{"b":[1,2]}', false],
  [{ fields: ['a'] }, 'created', '{}', true],
  [{ kinds: [] }, 'created', '{}', false],
] as const)('the filter %j lets %s of %s through: %s', (filter, change, fields, expected) => {
  expect(isWanted({ ...ALL, ...filter }, eventOf(1, ['clients', '1'], change, fields))).toBe(expected);
});
