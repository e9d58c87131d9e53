import { describe, expect, test, vi } from 'vitest';
import {
  dateField,
  decimalField,
  flagField,
  integerField,
  jsonField,
  referenceField,
  textField,
  timeField,
  timestampField,
} from '../../../src/catalog/field.ts';
import type { Kind, ListOrder } from '../../../src/catalog/kind.ts';
import type { Json, JsonObject } from '../../../src/lib/json/json.ts';
import { createWorld, type World } from '../../../sandbox/world.ts';
import { textOf } from '../text-of.ts';

/** Kinds without a generator, one for each order of a list; no generator knows their fields. */
const MADE_UP = vi.hoisted(() => {
  const orders: readonly ListOrder[] = [
    'created, oldest first',
    'created, newest first',
    'code',
    'unknown',
    'pickup date, newest first',
  ];
  return orders.map((order, index) => ({ order, name: `made_up_${'abcde'[index] ?? ''}` }));
});

vi.mock('../../../src/catalog/kinds/catalog.ts', async (original) => {
  const real = await original<{ readonly KINDS: readonly Kind[] }>();
  return { ...real, KINDS: [...real.KINDS, ...MADE_UP.map(kindOf)] };
});

function kindOf({ name, order }: (typeof MADE_UP)[number]): Kind {
  const path = `/api/${name}`;
  return {
    name,
    list: { path, header: 'Authorization', paging: 'by answer', order },
    retrieve: null,
    create: null,
    update: null,
    naturalKey: ['label'],
    hints: [dateField('seen_in_the_wild')],
    fields: [
      integerField('id'),
      textField('label'),
      textField('code'),
      dateField('pickup_date'),
      integerField('system_id'),
      integerField('number'),
      flagField('is_new'),
      decimalField('money', 2),
      decimalField('pieces', 0),
      timeField('at'),
      timestampField('made_at'),
      referenceField(integerField('client_id'), 'clients'),
      referenceField(textField('product_id'), 'products'),
      jsonField('anything'),
      jsonField('lines', [
        integerField('id'),
        referenceField(integerField('category_id'), 'categories'),
        decimalField('price', 4),
      ]),
    ],
  };
}

const world = createWorld({ size: 60, seed: 5, systemId: 7 });
const recordsOf = (of: World, kind: string): readonly JsonObject[] =>
  of.ids(kind).map((id) => of.get(kind, id) ?? {});

describe.each(MADE_UP)('a kind without a generator, its list in the order: $order', ({ name, order }) => {
  const records = recordsOf(world, name);

  test('has a record for each client, each with an id and a natural key of its own', () => {
    expect(records).toHaveLength(60);
    for (const field of ['id', 'label'])
      expect(new Set(records.map((record) => record[field])).size).toBe(60);
  });

  test('has every field of its catalogue entry, hints too, as the service writes its type', () => {
    for (const record of records)
      expect(record).toMatchObject({
        number: expect.any(Number) as number,
        system_id: 7,
        anything: [],
        code: expect.any(String) as string,
        money: expect.stringMatching(/^\d+\.\d\d$/) as string,
        pieces: expect.stringMatching(/^\d+$/) as string,
        at: expect.stringMatching(/^\d\d:\d\d:00$/) as string,
        is_new: expect.toBeOneOf([0, 1]) as number,
        made_at: expect.stringMatching(/^20\d\d-\d\d-\d\d \d\d:\d\d:00$/) as string,
        seen_in_the_wild: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
      });
  });

  test('refers to records that exist', () => {
    const has = (kind: string, id: Json | undefined): boolean => world.get(kind, Number(id)) !== undefined;
    const lines = records.flatMap((record) => record['lines'] as readonly JsonObject[]);
    expect(records.every((record) => has('clients', record['client_id']))).toBe(true);
    expect(records.every(({ product_id: id }) => typeof id === 'string' && has('products', id))).toBe(true);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.every((line) => has('categories', line['category_id']))).toBe(true);
    expect(new Set(lines.map((line) => line['id'])).size).toBe(lines.length);
  });

  test('is listed in that order, and the same seed makes the same records', () => {
    const places = records.map(({ code, pickup_date: day, id }) =>
      order === 'code'
        ? textOf(code)
        : order === 'pickup date, newest first'
          ? `${textOf(day)} ${textOf(id)}`
          : textOf(id),
    );
    const rising = [...places].sort();
    expect(places).toEqual(order.endsWith('newest first') ? rising.reverse() : rising);
    expect(recordsOf(createWorld({ size: 60, seed: 5, systemId: 7 }), name)).toEqual(records);
  });
});
