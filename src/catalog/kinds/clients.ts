import { date, decimal, flag, integer, json, text } from '../field.ts';
import type { Kind } from '../kind.ts';

/** Service documentation §2.3, §4.2. */
export const clients: Kind = {
  name: 'clients',
  list: { path: '/api/clients', header: 'Authentication', paging: 'documented', order: 'code' },
  retrieve: { path: '/api/clients/:id', header: 'Authentication' },
  create: { path: '/api/clients', header: 'Authentication', body: ['code', 'name'] },
  update: { path: '/api/clients/:id', header: 'Authentication', body: [] },
  naturalKey: ['code'],
  fields: [
    integer('id'),
    text('code'),
    text('name'),
    flag('inactive'),
    date('creation_date'),
    text('address'),
    text('adresse2', { name: 'address2' }), // Read in French, written in English: seen in the wild.
    text('city'),
    text('state'),
    text('zipcode'),
    text('phone'),
    text('phone2'),
    text('fax'),
    text('email'),
    text('website'),
    text('phone_work'),
    decimal('credit', 2),
    integer('term'),
    json('contacts', [
      integer('id'),
      text('nom'),
      text('fonction'),
      text('departement'),
      text('email'),
      text('telephone'),
      text('cell'),
      text('fax'),
    ]),
  ],
  hints: [],
};
