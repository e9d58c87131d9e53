import { flagField, integerField, jsonField, textField } from '../field.ts';
import type { Kind } from '../kind.ts';

/** Service documentation §2.6, §4.5. */
export const categories: Kind = {
  name: 'categories',
  list: { path: '/api/categories', header: 'Authentication', paging: 'by answer', order: 'unknown' },
  retrieve: { path: '/api/categories/:id', header: 'Authentication' },
  create: { path: '/api/categories', header: 'Authentication', body: ['code', 'name_fr', 'name_en'] },
  update: { path: '/api/categories/:id', header: 'Authentication', body: [] },
  naturalKey: ['code'],
  describedBy: ['name_fr', 'name_en'],
  fields: [integerField('id'), textField('code'), textField('name_fr'), textField('name_en')],
  hints: [flagField('status'), flagField('sync_web'), jsonField('img_paths'), textField('category_type')],
};
