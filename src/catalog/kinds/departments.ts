import { flagField, integerField, listField, referenceField, textField } from '../field.ts';
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
    integerField('id'),
    integerField('branch_id'),
    textField('name'),
    listField('categories', referenceField(textField('category_id'), 'categories')),
    flagField('use_default'),
    integerField('system_id'),
  ],
  hints: [],
};
