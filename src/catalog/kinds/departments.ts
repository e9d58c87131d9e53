import { flag, integer, listed, reference, text } from '../field.ts';
import type { Kind } from '../kind.ts';

/** Service documentation §2.10, §4.9. */
export const departments: Kind = {
  name: 'departments',
  list: { path: '/api/departments', header: 'Authentication', paging: 'by answer', order: 'unknown' },
  retrieve: { path: '/api/departments/:id', header: 'Authentication' },
  create: null,
  update: null,
  naturalKey: 'all sent fields',
  fields: [
    integer('id'),
    integer('branch_id'),
    text('name'),
    listed('categories', reference(text('category_id'), 'categories')),
    flag('use_default'),
    integer('system_id'),
  ],
  hints: [],
};
