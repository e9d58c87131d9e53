import { dateField, decimalField, integerField, textField, timeField } from '../field.ts';
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
  minutes: { from: 'start_time', to: 'end_time' },
  fields: [
    integerField('id'),
    integerField('appointment_id'),
    integerField('user_id'),
    dateField('date'),
    timeField('start_time', { as: 'HH:MM' }),
    timeField('end_time', { as: 'HH:MM' }),
    decimalField('ptotal', 2),
    textField('note'),
    integerField('system_id'),
  ],
  hints: [],
};
