import { expect, test } from 'vitest';
import { date, decimal, flag, integer, json, text, time, timestamp } from '../../src/catalog/field.ts';

test.each([
  [integer('a'), { name: 'a', type: 'integer' }],
  [flag('a'), { name: 'a', type: 'flag' }],
  [date('a'), { name: 'a', type: 'date' }],
  [time('a'), { name: 'a', type: 'time' }],
  [timestamp('a'), { name: 'a', type: 'timestamp' }],
  [text('a'), { name: 'a', type: 'text' }],
  [text('nom', { name: 'name' }), { name: 'nom', type: 'text', write: { name: 'name' } }],
  [decimal('a', 2), { name: 'a', type: 'decimal', scale: 2 }],
  [json('a'), { name: 'a', type: 'json' }],
  [json('a', [integer('b')]), { name: 'a', type: 'json', items: [{ name: 'b', type: 'integer' }] }],
])('the words of the catalogue make the field %j', (field, expected) => {
  expect(field).toStrictEqual(expected);
});
