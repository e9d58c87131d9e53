import { date, decimal, flag, integer, json, reference, text } from '../field.ts';
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
  fields: [
    integer('id'),
    text('code'),
    reference(integer('client_id'), 'clients'),
    flag('active'),
    text('nom', { name: 'name' }),
    text('description'),
    json('tasks', [
      integer('id'),
      reference(integer('projet_id'), 'projects'),
      flag('active'),
      date('creation_date'),
      text('title'),
      date('start_date'),
      date('end_date'),
      text('status'),
      decimal('time_estimated', 2),
      decimal('time_spent', 2),
      text('description'),
      json('comments'),
    ]),
  ],
  hints: [],
};
