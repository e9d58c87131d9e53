import { date, decimal, flag, integer, json, reference, text } from '../field.ts';
import type { Kind } from '../kind.ts';

/** Service documentation §2.11, §4.10: no field is shown; the hints are the fields that the live service was seen to send. */
export const bookings: Kind = {
  name: 'bookings',
  list: {
    path: '/api/bookings',
    header: 'Authentification',
    paging: 'by answer',
    order: 'pickup date, newest first',
  },
  retrieve: { path: '/api/bookings/:id', header: 'Authentification' },
  create: null,
  update: null,
  naturalKey: 'all sent fields',
  fields: [integer('id')],
  hints: [
    text('code'),
    flag('inactive'),
    date('pickup_date'),
    date('delivery_date'),
    reference(integer('client_id'), 'clients'),
    text('contact'),
    text('contact_phone'),
    text('contact_fax'),
    decimal('distance', 2),
    text('po_num'),
    text('comm_num'),
    text('bol_num'),
    text('fact_number'),
    text('invoice'),
    decimal('price', 2),
    date('creation_date'),
    json('items', [
      integer('id'),
      reference(integer('booking_id'), 'bookings'),
      text('description'),
      decimal('value', 2),
      decimal('length', 2),
      decimal('width', 2),
      decimal('height', 2),
      decimal('number', 2),
      decimal('weight', 2),
      decimal('total', 2),
      text('details'),
    ]),
  ],
};
