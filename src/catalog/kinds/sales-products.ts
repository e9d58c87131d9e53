import { integerField } from '../field.ts';
import type { Kind } from '../kind.ts';
import { purchaseProducts } from './purchase-products.ts';

/** Service documentation §4.4: retrieve only, its shape is not shown; in the wild it looks like a purchase line. */
export const salesProducts: Kind = {
  name: 'sales_products',
  list: null,
  retrieve: { path: '/api/sales_products/:id', header: 'Authentication' },
  create: null,
  update: null,
  naturalKey: 'all sent fields',
  fields: [integerField('id')],
  hints: [integerField('sale_id'), ...purchaseProducts.fields.filter((field) => field.name !== 'id')],
};
