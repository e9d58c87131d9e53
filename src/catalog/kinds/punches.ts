import { date, decimal, integer, text, time } from '../field.ts';
import type { Kind } from '../kind.ts';

/** Service documentation §2.8, §4.7. The list shows no `meta`; times are read HH:MM:SS and written HH:MM. */
export const punches: Kind = {
  name: 'punches',
  list: { path: '/api/punch', header: 'Authentication', paging: 'by answer', order: 'unknown' },
  retrieve: {
    path: '/api/categories/:id',
    header: 'Authentication',
    misprint: 'answers with the category of the same number (§4.7)',
  },
  create: {
    path: '/api/punch',
    header: 'Authentication',
    body: ['user_id', 'date', 'start_time', 'end_time'],
  },
  update: { path: '/api/punch/:id', header: 'Authentication', body: [] },
  naturalKey: ['user_id', 'date', 'start_time'],
  fields: [
    integer('id'),
    integer('appointment_id'),
    integer('user_id'),
    date('date'),
    time('start_time', { as: 'HH:MM' }),
    time('end_time', { as: 'HH:MM' }),
    decimal('ptotal', 2),
    text('note'),
    integer('system_id'),
  ],
  hints: [],
};
