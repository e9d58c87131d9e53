import { decimal, integer, recordOf, reference, text } from '../field.ts';
import type { Kind } from '../kind.ts';

/** Service documentation §2.5, §4.4. The list lives under `purchases_products`. */
export const purchaseProducts: Kind = {
  name: 'purchase_products',
  list: { path: '/api/purchases_products', header: 'Authentication', paging: 'by answer', order: 'unknown' },
  retrieve: {
    path: '/api/sales_products/:id',
    header: 'Authentication',
    misprint: 'answers with the sales product of the same number (§4.4)',
  },
  create: { path: '/api/purchases_products', header: 'Authentication', body: ['purchase_id', 'product_id'] },
  update: { path: '/api/purchases_products/:id', header: 'Authentication', body: [] },
  naturalKey: ['purchase_id', 'product_id'],
  repeats: true,
  fields: [
    integer('id'),
    integer('purchase_id', { as: 'text' }),
    reference(text('product_id'), 'products'),
    text('produit_compte'),
    text('product_name'),
    text('product_description'),
    recordOf('produit_projet', 'projects'),
    decimal('product_quantity', 2),
    decimal('produit_quantite_receive', 2),
    decimal('produit_quantite_onhold', 2),
    decimal('produit_poids', 3),
    decimal('produit_poids_receive', 3),
    decimal('produit_poids_onhold', 3),
    decimal('product_price', 4),
    decimal('product_discount', 2),
    text('product_serialnumber'),
    decimal('produit_total', 2),
    integer('taxes_rules_id'),
    text('gestion_taxes'), // JSON text inside a string: kept as the text that it is.
    integer('province_id'),
    integer('system_id'),
  ],
  hints: [integer('sale_id')],
};
