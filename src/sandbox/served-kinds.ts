import { KINDS } from '../catalog/catalog.ts';
import { date, decimal, integer, text, timestamp } from '../catalog/field.ts';
import type { Kind } from '../catalog/kind.ts';

/** Beyond the documentation: the live service lists purchases too, so that a further kind can be tried here. */
const purchases: Kind = {
  name: 'purchases',
  list: { path: '/api/purchases', header: 'Authorization', paging: 'by answer', order: 'unknown' },
  retrieve: { path: '/api/purchases/:id', header: 'Authorization' },
  create: null,
  update: null,
  naturalKey: ['code'],
  fields: [
    integer('id'),
    text('code'),
    integer('provider_id'),
    date('date'),
    text('status'),
    text('currency'),
    decimal('subtotal', 2),
    decimal('taxes', 2),
    decimal('total', 2),
    text('note'),
    integer('system_id'),
    timestamp('created_at'),
  ],
  hints: [],
};

/** Every kind that the sandbox answers for. */
export const SERVED_KINDS: readonly Kind[] = [...KINDS, purchases];

/** The kind of this name; a name that the sandbox does not know is a bug. */
export function servedKind(name: string): Kind {
  const kind = SERVED_KINDS.find((served) => served.name === name);
  if (!kind) throw new TypeError(`The sandbox has no kind named ${name}.`);
  return kind;
}
