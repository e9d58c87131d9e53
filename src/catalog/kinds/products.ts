import {
  decimalField,
  integerField,
  jsonField,
  referenceField,
  textField,
  timestampField,
} from '../field.ts';
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
  witnesses: ['code_cup'],
  describedBy: ['name_fr', 'name_en', 'created_at'],
  fields: [
    integerField('id'),
    textField('code'),
    referenceField(integerField('category_id'), 'categories'),
    textField('name_fr'),
    textField('name_en'),
  ],
  hints: [
    textField('code_cup'),
    referenceField(integerField('origin_product_id'), 'products'), // A variant's is its parent's id, a parent's its own.
    timestampField('created_at'),
    timestampField('updated_at'),
    textField('type'),
    textField('status'),
    decimalField('price', 4),
    decimalField('special_price', 4),
    decimalField('dimensions_length', 3),
    decimalField('dimensions_width', 3),
    decimalField('dimensions_height', 3),
    decimalField('weight', 3),
    textField('unit'),
    referenceField(integerField('provider_id'), 'providers'),
    jsonField('medias'),
    {
      name: 'variantes',
      type: 'json',
      itemHints: [referenceField(textField('origin_product_id'), 'products')],
    },
  ],
};
