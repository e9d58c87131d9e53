import { dateField, decimalField, flagField, integerField, textField } from '../field.ts';
import type { Kind } from '../kind.ts';

/** Service documentation §2.4, §4.3. `credit` is a JSON number here, a text with 2 places in clients. */
export const providers: Kind = {
  name: 'providers',
  list: { path: '/api/providers', header: 'Authentication', paging: 'documented', order: 'code' },
  retrieve: { path: '/api/providers/:id', header: 'Authentication' },
  create: { path: '/api/providers', header: 'Authentication', body: ['code', 'name'] },
  update: { path: '/api/providers/:id', header: 'Authentication', body: [] },
  naturalKey: ['code'],
  witnesses: ['phone', 'fax', 'email', 'address'],
  describedBy: ['name', 'creation_date'],
  fields: [
    integerField('id'),
    textField('code'),
    textField('name'),
    flagField('inactive'),
    dateField('creation_date'),
    textField('address'),
    textField('address2'),
    textField('city'),
    textField('state'),
    textField('zipcode'),
    textField('phone'),
    textField('fax'),
    textField('email'),
    textField('website'),
    integerField('term'),
    decimalField('credit', 2),
  ],
  hints: [],
};
