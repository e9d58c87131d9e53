import {
  dateField,
  decimalField,
  flagField,
  integerField,
  jsonField,
  referenceField,
  textField,
} from '../field.ts';
import type { Kind } from '../kind.ts';

/** Service documentation §2.2, §4.1. */
export const projects: Kind = {
  name: 'projects',
  list: {
    path: '/api/projects',
    header: 'Authentication',
    paging: 'documented',
    order: 'created, oldest first',
  },
  retrieve: { path: '/api/projects/:id', header: 'Authentication' },
  create: { path: '/api/projects', header: 'Authentication', body: ['name'] },
  update: { path: '/api/projects/:id', header: 'Authentication', body: [] },
  naturalKey: ['nom'],
  witnesses: ['tasks'],
  describedBy: ['code', 'client_id'],
  fields: [
    integerField('id'),
    textField('code'),
    referenceField(integerField('client_id'), 'clients'),
    flagField('active'),
    textField('nom', { name: 'name' }),
    textField('description'),
    jsonField('tasks', [
      integerField('id'),
      referenceField(integerField('projet_id'), 'projects'),
      flagField('active'),
      dateField('creation_date'),
      textField('title'),
      dateField('start_date'),
      dateField('end_date'),
      textField('status'),
      decimalField('time_estimated', 2),
      decimalField('time_spent', 2),
      textField('description'),
      jsonField('comments'),
    ]),
  ],
  hints: [],
};
