import { integerField } from '../field.ts';
import type { Kind } from '../kind.ts';

/** Service documentation §2.9, §4.8: no field is shown; the list spells its header unlike the rest. */
export const vehicleBrands: Kind = {
  name: 'vehicle_brands',
  list: { path: '/api/vehicles_brands', header: 'Authorization', paging: 'by answer', order: 'unknown' },
  retrieve: { path: '/api/vehicles_brands/:id', header: 'Authentification' },
  create: { path: '/api/vehicles_brands', header: 'Authentification', body: [] },
  update: { path: '/api/vehicles_brands/:id', header: 'Authentification', body: [] },
  naturalKey: 'all sent fields',
  fields: [integerField('id')],
  hints: [],
};
