import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/lib/sync-error.ts';
import { expandIds, parseExtent, writeExtent } from '../../src/runs/extent.ts';
import { kindNamed } from '../store/temp-mirror.ts';

const LARGEST = '9223372036854775807';

const faultOf = (work: () => unknown): UsageError => {
  try {
    work();
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
};

describe('a list of ids', () => {
  test.each<[string, readonly string[]]>([
    ['7', ['7']],
    ['1,5-9', ['1', '5', '6', '7', '8', '9']],
    ['9,1', ['9', '1']],
    ['3-3', ['3']],
    [' 1 , 2-3 ', ['1', '2', '3']],
    ['5-7,6,1-5', ['5', '6', '7', '1', '2', '3', '4']],
    [LARGEST, [LARGEST]],
    [`9223372036854775805-${LARGEST}`, ['9223372036854775805', '9223372036854775806', LARGEST]],
  ])('%s names %j', (text, ids) => {
    expect(expandIds(text)).toEqual(ids);
  });

  test.each(
    // prettier-ignore
    [
      '', ' ', ',', '1,', ',1', '1,,2', '0', '00', '07', '-1', '1-', '-', '9-5', '5 - 9', '1-2-3', 'a',
      '1.0', '1e3', '+1', '0x1', '½', '٣', '1;2', `1\n2`, '9223372036854775808', '1'.repeat(40),
      '1-99999999999999999999',
    ],
  )('%j is none', (text) => {
    const fault = faultOf(() => expandIds(text));
    expect(fault.code).toBe('usage.extent');
    expect(fault.hint).toContain('1,5-9');
  });

  test('names each id of its parts once, and no other', () => {
    const part = fc.tuple(fc.integer({ min: 1, max: 300 }), fc.nat(20));
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
        const text = parts
          .map(([from, more]) => (more === 0 ? `${from}` : `${from}-${from + more}`))
          .join(',');
        const expected = parts.flatMap(([from, more]) =>
          Array.from({ length: more + 1 }, (_, index) => String(from + index)),
        );
        expect(expandIds(text)).toEqual([...new Set(expected)]);
      }),
    );
  });
});

test('a backfill names 10,000 records at most, however they are written', () => {
  const clients = kindNamed('clients');
  const list = (length: number) => Array.from({ length }, (_, index) => String(index + 1)).join(',');
  for (const ids of ['1-10000', list(10_000)])
    expect(parseExtent(writeExtent(clients, { ids }))).toMatchObject({ ids: { length: 10_000 } });
  for (const ids of ['1-10001', '1-1000000', list(10_001)])
    expect(faultOf(() => writeExtent(clients, { ids })).message).toBe(
      'The ids name more than 10000 records.',
    );
});

describe('a range of pages', () => {
  test.each([
    ['1-20', { from: 1, to: 20 }],
    ['3', { from: 3, to: 3 }],
    [' 2-2 ', { from: 2, to: 2 }],
  ])('%s is %j', (text, range) => {
    expect(parseExtent(writeExtent(kindNamed('clients'), { pages: text }))).toEqual({ pages: range });
  });

  test.each(['', '0', '0-5', '5-1', '1,2', '1-', 'all', '-3', '1.5', '01'])('%j is none', (text) => {
    expect(faultOf(() => writeExtent(kindNamed('clients'), { pages: text })).code).toBe('usage.extent');
  });
});
