import { decimal, integer, json, reference, seenArray, text, timestamp } from '../field.ts';
import type { Kind } from '../kind.ts';

/** Service documentation §2.7, §4.6: no field of a read but `id` is shown; the list omits `success`. */
export const products: Kind = {
  name: 'products',
  list: {
    path: '/api/products',
    header: 'Authentication',
    paging: 'documented',
    order: 'created, newest first',
  },
  retrieve: { path: '/api/products/:id', header: 'Authentication' },
  create: {
    path: '/api/products',
    header: 'Authentication',
    body: ['code', 'category_id', 'name_fr', 'name_en'],
  },
  update: { path: '/api/products/:id', header: 'Authentication', body: [] },
  naturalKey: ['code'],
  fields: [
    integer('id'),
    text('code'),
    reference(integer('category_id'), 'categories'),
    text('name_fr'),
    text('name_en'),
  ],
  hints: [
    text('code_cup'),
    reference(integer('origin_product_id'), 'products'), // A variant's is its parent's id, a parent's its own.
    timestamp('created_at'),
    timestamp('updated_at'),
    text('type'),
    text('status'),
    decimal('price', 4),
    decimal('special_price', 4),
    decimal('dimensions_length', 3),
    decimal('dimensions_width', 3),
    decimal('dimensions_height', 3),
    decimal('weight', 3),
    text('unit'),
    reference(integer('provider_id'), 'providers'),
    json('medias'),
    seenArray('variantes', [reference(text('origin_product_id'), 'products')]),
  ],
};
