import { date, decimal, flag, integer, text } from '../field.ts';
import type { Kind } from '../kind.ts';

/** Service documentation §2.4, §4.3. `credit` is a JSON number here, a text with 2 places in clients. */
export const providers: Kind = {
  name: 'providers',
  list: { path: '/api/providers', header: 'Authentication', paging: 'documented', order: 'code' },
  retrieve: { path: '/api/providers/:id', header: 'Authentication' },
  create: { path: '/api/providers', header: 'Authentication', body: ['code', 'name'] },
  update: { path: '/api/providers/:id', header: 'Authentication', body: [] },
  naturalKey: ['code'],
  fields: [
    integer('id'),
    text('code'),
    text('name'),
    flag('inactive'),
    date('creation_date'),
    text('address'),
    text('address2'),
    text('city'),
    text('state'),
    text('zipcode'),
    text('phone'),
    text('fax'),
    text('email'),
    text('website'),
    integer('term'),
    decimal('credit', 2),
  ],
  hints: [],
};
