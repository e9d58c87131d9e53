import { flag, integer, json, text } from '../field.ts';
import type { Kind } from '../kind.ts';

/** Service documentation §2.6, §4.5. */
export const categories: Kind = {
  name: 'categories',
  list: { path: '/api/categories', header: 'Authentication', paging: 'by answer', order: 'unknown' },
  retrieve: { path: '/api/categories/:id', header: 'Authentication' },
  create: { path: '/api/categories', header: 'Authentication', body: ['code', 'name_fr', 'name_en'] },
  update: { path: '/api/categories/:id', header: 'Authentication', body: [] },
  naturalKey: ['code'],
  fields: [integer('id'), text('code'), text('name_fr'), text('name_en')],
  hints: [flag('status'), flag('sync_web'), json('img_paths'), text('category_type')],
};
