import { describe, expect, test } from 'vitest';
import { findPresenceDrift, findTypeDrift, type FieldDrift } from '../../src/diff/field-drift.ts';

/** Fields by name: the JSON types that came; `gone` is missing since yesterday. */
type Known = Record<string, string | { gone: string }>;

const YESTERDAY = '2026-02-28 12:00:00.000';

function drift(
  before: Known,
  after: Record<string, string>,
  present = Object.keys(after),
): readonly FieldDrift[] {
  const seen = (wire: string) => ({ type: 'text' as const, fitsHint: false, wire });
  const known = new Map(
    Object.entries(before).map(([name, was]) => [
      name,
      typeof was === 'string'
        ? { ...seen(was), vanishedAt: null }
        : { ...seen(was.gone), vanishedAt: YESTERDAY },
    ]),
  );
  const now = new Map(Object.entries(after).map(([name, wire]) => [name, seen(wire)]));
  return [...findTypeDrift(known, now), ...findPresenceDrift(known, new Set(present))];
}

describe('from one sweep to the next', () => {
  test('nothing has changed', () => {
    expect(drift({ a: 'number', b: { gone: 'text' } }, { a: 'number', b: 'text' }, ['a'])).toEqual([]);
  });

  test('a field is new', () => {
    expect(drift({ a: 'text' }, { a: 'text', b: 'number', c: '' })).toEqual([
      { code: 'new_field', field: 'b', detail: 'sent as number' },
      { code: 'new_field', field: 'c', detail: 'sent as null' },
    ]);
  });

  test('a field has vanished', () => {
    expect(drift({ a: 'text', b: 'text' }, { a: 'text', b: 'text' }, ['a'])).toEqual([
      { code: 'vanished_field', field: 'b', detail: 'no record has it' },
    ]);
  });

  test('a field is back, as another type', () => {
    expect(drift({ a: { gone: 'text' } }, { a: 'number text' })).toEqual([
      { code: 'retyped_field', field: 'a', detail: 'was sent as text, now number text' },
      { code: 'returned_field', field: 'a', detail: `was missing since ${YESTERDAY}` },
    ]);
  });

  test('a field of which only nulls had come has its first value: no drift', () => {
    expect(drift({ a: '' }, { a: 'number' })).toEqual([]);
  });

  test('an empty list tells nothing', () => {
    expect(drift({ a: 'text' }, { a: 'text' }, [])).toEqual([]);
  });

  test('C12: a field may be called anything', () => {
    const named = (wire: string) =>
      Object.fromEntries([
        ['__proto__', wire],
        ['constructor', wire],
      ]);
    expect(drift({}, named('text')).map(({ field }) => field)).toEqual(['__proto__', 'constructor']);
    expect(drift(named('text'), named('text'))).toEqual([]);
  });
});
