import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { readValue } from '../../src/audit/read-value.ts';
import type { FieldType } from '../../src/catalog/kind.ts';
import type { Json } from '../../src/lib/json.ts';

const number = (token: string): Json => new LosslessNumber(token);
const NONE: readonly [FieldType, Json][] = [
  ['decimal', ''],
  ['decimal', '0000-00-00'],
  ['date', ''],
  ['date', '0000-00-00'],
  ['time', ''],
  ['timestamp', ''],
  ['timestamp', '0000-00-00'],
  ['timestamp', '0000-00-00 00:00:00'],
  ['text', null],
  ['json', null],
  ['integer', null],
];
const VALUES: readonly [FieldType, Json, string][] = [
  ['integer', 7, '7'],
  ['integer', '-12', '-12'],
  ['integer', number('9223372036854775807'), '9223372036854775807'],
  ['integer', '-9223372036854775808', '-9223372036854775808'],
  ['flag', true, '1'],
  ['flag', '0', '0'],
  ['decimal', '1250.50', '12505e-1'],
  ['decimal', number('1.5e+10'), '15e9'],
  ['decimal', 7, '7e0'],
  ['decimal', '1E+3', '1e3'],
  ['decimal', '-1.5e-2', '-15e-3'],
  ['date', '2024-02-29', '2024-02-29'],
  ['date', '0001-01-01', '0001-01-01'],
  ['time', '07:05', '07:05:00'],
  ['time', '23:59:59', '23:59:59'],
  ['timestamp', '2025-03-09T02:30:00', '2025-03-09 02:30:00'],
  ['text', number('10.00'), '10.00'],
  ['text', '', ''],
  ['text', false, 'false'],
];
const MISFITS: readonly [FieldType, Json][] = [
  ['integer', '007'],
  ['integer', ''],
  ['integer', number('1.0')],
  ['integer', number('-0')],
  ['integer', '9223372036854775808'],
  ['integer', true],
  ['flag', 2],
  ['flag', [true]],
  ['flag', 'yes'],
  ['decimal', '1,5'],
  ['decimal', '1e3.5'],
  ['decimal', 'e3'],
  ['decimal', ' 12'],
  ['decimal', [1]],
  ['date', '2025-02-29'],
  ['date', '0000-12-01'],
  ['date', '2025-1-5'],
  ['date', '2025-01-05T00:00:00'],
  ['date', 20250105],
  ['time', '24:00:00'],
  ['time', '23:59:60'],
  ['time', '7:05'],
  ['timestamp', '2025-01-05'],
  ['timestamp', '2025-01-05 24:00:00'],
  ['timestamp', '2025-01-05T10:00:00Z'],
  ['text', 'a\u0000b'],
  ['text', '\ud800'],
  ['text', []],
  ['json', [{ 'a\u0000': 1 }]],
  ['json', { a: ['\udfff'] }],
];

describe('a value of the service', () => {
  test.each(NONE)('%s: %j is none', (type, value) => {
    expect(readValue(type, value)).toEqual({ fits: true, text: null });
  });

  test.each(VALUES)('%s: %j is %j', (type, value, text) => {
    expect(readValue(type, value)).toEqual({ fits: true, text });
  });

  test.each(MISFITS)('%s: %j fits no rule', (type, value) => {
    expect(readValue(type, value)).toEqual({ fits: false, text: null });
  });
});
