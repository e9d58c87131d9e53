import { expect, test } from 'vitest';
import { documentedKind } from '../../src/catalog/kinds/catalog.ts';
import { dateField, decimalField, integerField, jsonField, textField } from '../../src/catalog/field.ts';
import type { Field, Kind } from '../../src/catalog/kind.ts';
import { columnObstacle, discoveredColumn, type SeenType } from '../../src/diff/observe-fields.ts';

const CATEGORIES: Kind = documentedKind('categories') ?? expect.fail('no categories');
const hints = [decimalField('price', 2), dateField('day'), jsonField('items', [textField('nom')])];
const kind: Kind = {
  ...CATEGORIES,
  fields: [integerField('id'), textField('Mood'), decimalField('cost', 2)],
  hints,
};

test.each<[string, SeenType, { fitsHint: boolean; column: Field }]>([
  ['price', 'integer', { fitsHint: true, column: decimalField('price', 2) }],
  ['price', 'text', { fitsHint: false, column: textField('price') }],
  ['price', 'none', { fitsHint: true, column: decimalField('price', 2) }],
  ['day', 'none', { fitsHint: false, column: textField('day') }],
  ['items', 'json', { fitsHint: true, column: jsonField('items', [textField('nom')]) }],
  ['other', 'decimal', { fitsHint: false, column: { name: 'other', type: 'decimal' } }],
  ['other', 'none', { fitsHint: false, column: textField('other') }],
  ...(['integer', 'date', 'timestamp', 'text', 'json'] as const).map(
    (type): [string, SeenType, { fitsHint: boolean; column: Field }] => [
      'other',
      type,
      { fitsHint: false, column: { name: 'other', type } },
    ],
  ),
])('%s that has shown %s: %j', (name, type, { fitsHint, column }) => {
  expect(discoveredColumn(kind, name, { type, fitsHint, wire: '' })).toEqual(column);
});

test.each(
  // prettier-ignore
  [
    'rank', 'é', 'cost_e', 'order', `it's "so"`, 'constructor', 'toString', 'x'.repeat(57), '1st', ' ',
  ],
)('%s can have its column', (name) => {
  expect(columnObstacle(kind, textField(name))).toBeNull();
});

test.each([
  ['', 'cannot be stored'],
  ['a\0b', 'cannot be stored'],
  ['\ud83d', 'cannot be stored'],
  ['x'.repeat(58), 'too long'],
  ['é'.repeat(29), 'too long'],
  ['_raw', 'begin with _'],
  ['__proto__', 'begin with _'],
  ['_', 'begin with _'],
  ['mood', '"mood" is taken'],
  ['MOOD', '"mood" is taken'],
  ['ID', '"id" is taken'],
  ['cost_e4', '"cost_e4" is taken'],
  ['Cost_Real', '"cost_real" is taken'],
  ['cost_exact', '"cost_exact" is taken'],
  ['xmin', '"xmin" is taken'],
  ['CTID', '"ctid" is taken'],
])('%j cannot: %s', (name, reason) => {
  expect(columnObstacle(kind, textField(name))).toContain(reason);
});

test('a decimal cannot where one of its twins would be in the way', () => {
  const fields = [integerField('id'), textField('sum_real'), textField('rate_exact'), integerField('fee_e4')];
  for (const name of ['sum', 'Rate', 'fee']) {
    expect(columnObstacle({ ...kind, fields }, decimalField(name, 2))).toContain('is taken');
    expect(columnObstacle({ ...kind, fields }, textField(name))).toBeNull();
  }
});

test('a kind ends at 300 columns', () => {
  const fields = (count: number): Field[] => Array.from({ length: count }, (_, at) => textField(`f${at}`));
  expect(columnObstacle({ ...kind, fields: fields(299) }, textField('more'))).toBeNull();
  expect(columnObstacle({ ...kind, fields: fields(300) }, textField('more'))).toContain('300 columns');
});
