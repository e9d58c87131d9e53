import { dateField, decimalField, flagField, integerField, jsonField, textField } from '../field.ts';
import type { Kind } from '../kind.ts';

/** Service documentation §2.3, §4.2. */
export const clients: Kind = {
  name: 'clients',
  list: { path: '/api/clients', header: 'Authentication', paging: 'documented', order: 'code' },
  retrieve: { path: '/api/clients/:id', header: 'Authentication' },
  create: { path: '/api/clients', header: 'Authentication', body: ['code', 'name'] },
  update: { path: '/api/clients/:id', header: 'Authentication', body: [] },
  naturalKey: ['code'],
  witnesses: ['phone', 'phone2', 'phone_work', 'fax', 'email', 'address', 'contacts'],
  describedBy: ['name', 'creation_date'],
  fields: [
    integerField('id'),
    textField('code'),
    textField('name'),
    flagField('inactive'),
    dateField('creation_date'),
    textField('address'),
    textField('adresse2', { name: 'address2' }), // Read in French, written in English: seen in the wild.
    textField('city'),
    textField('state'),
    textField('zipcode'),
    textField('phone'),
    textField('phone2'),
    textField('fax'),
    textField('email'),
    textField('website'),
    textField('phone_work'),
    decimalField('credit', 2),
    integerField('term'),
    jsonField('contacts', [
      integerField('id'),
      textField('nom'),
      textField('fonction'),
      textField('departement'),
      textField('email'),
      textField('telephone'),
      textField('cell'),
      textField('fax'),
    ]),
  ],
  hints: [],
};
