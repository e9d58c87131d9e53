import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arrayStart, valueEnd } from '../../../src/lib/json/json-bytes.ts';
import { spelled } from '../../support/json-models.ts';
import { lists, textOf } from '../../source/lists.ts';
import { tries } from '../../support/tiers.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const DATA = bytes('"data"');

/** The text that is found to be the records. */
function found(text: string): string | null {
  const body = bytes(text);
  const start = arrayStart(body, DATA);
  const end = start === null ? null : valueEnd(body, start);
  return start === null || end === null ? null : Buffer.from(body.subarray(start, end)).toString();
}

describe('the records of a list', () => {
  test('are found whatever stands in them and around them', () => {
    fc.assert(
      fc.property(lists, (list) => {
        expect(found(textOf(list))).toBe(list.records);
      }),
      { numRuns: tries(1000) },
    );
  });

  test('have no end where the body is cut within them', () => {
    fc.assert(
      fc.property(lists, fc.nat(), (list, cut) => {
        const before = bytes(list.before);
        const records = bytes(list.records);
        const body = Buffer.concat([before, records.subarray(0, 1 + (cut % (records.length - 1)))]);
        expect(arrayStart(body, DATA)).toBe(before.length);
        expect(valueEnd(body, before.length)).toBeNull();
      }),
      { numRuns: tries(1000) },
    );
  });

  test.each([
    ['{"meta":{"data":[1]},"data":[2]}', '[2]'],
    ['{"data":[{"data":[1]}]}', '[{"data":[1]}]'],
    ['{"x":"\\"data\\":[1]","data":[2]}', '[2]'],
    ['{"x":"\\\\","data":[2]}', '[2]'],
    ['{"x":-1.5e3,"y":null,"z":[[]],"data":[]}', '[]'],
    ['\ufeff [1, "]"]\n', '[1, "]"]'],
  ])('of %s are %s', (text, records) => {
    expect(found(text)).toBe(records);
  });

  test.each(
    // prettier-ignore
    [
      '', ' ', '{}', '{', '7', 'null', '"[1]"', '{"data":null}', '{"data":{"data":[1]}}',
      '{"data":null,"data":[1]}', '{"DATA":[1]}', '{"data"', '{"data":', '{"dat', '{"a" "data":[1]}',
      '{"a":1;"data":[1]}', '{data:[1]}', '[1', '["]', '["\\',
    ],
  )('of %s are not found', (text) => {
    expect(found(text)).toBeNull();
  });
});

test('the end of any value is where the value ends', () => {
  fc.assert(
    fc.property(spelled, fc.string(), ({ text }, behind) => {
      expect(valueEnd(bytes(text + behind), 0)).toBe(bytes(text).length);
    }),
    { numRuns: tries(1000) },
  );
});

test('any bytes are read without a fault, and never beyond their end', () => {
  const alphabet = fc.constantFrom(...Buffer.from('"data":[]{},\\ 1é'), 0xff);
  fc.assert(
    fc.property(fc.array(alphabet, { maxLength: 30 }), (body) => {
      const all = Uint8Array.from(body);
      const start = arrayStart(all, DATA) ?? 0;
      const end = valueEnd(all, start) ?? start;
      expect(start).toBeLessThanOrEqual(all.length);
      expect(end).toBeGreaterThanOrEqual(start);
      expect(end).toBeLessThanOrEqual(all.length);
    }),
    { numRuns: tries(1000) },
  );
});
