import { decimalField, integerField, referenceField, textField } from '../field.ts';
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
  witnesses: ['product_serialnumber'],
  describedBy: ['product_name'],
  repeats: true,
  fields: [
    integerField('id'),
    integerField('purchase_id', { as: 'text' }),
    referenceField(textField('product_id'), 'products'),
    textField('produit_compte'),
    textField('product_name'),
    textField('product_description'),
    { name: 'produit_projet', type: 'json', isObject: true, recordOf: 'projects' },
    decimalField('product_quantity', 2),
    decimalField('produit_quantite_receive', 2),
    decimalField('produit_quantite_onhold', 2),
    decimalField('produit_poids', 3),
    decimalField('produit_poids_receive', 3),
    decimalField('produit_poids_onhold', 3),
    decimalField('product_price', 4),
    decimalField('product_discount', 2),
    textField('product_serialnumber'),
    decimalField('produit_total', 2),
    integerField('taxes_rules_id'),
    textField('gestion_taxes'), // JSON text inside a string: kept as the text that it is.
    integerField('province_id'),
    integerField('system_id'),
  ],
  hints: [integerField('sale_id')],
};
