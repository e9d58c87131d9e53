import type { JsonObject } from '../../src/lib/json/json.ts';
import type { World } from '../../sandbox/world.ts';

/** Rows that drivers are known to bend: accents, nulls, four places, negative and 14-digit amounts, empty dates. */
const CLIENTS: readonly JsonObject[] = [
  { code: 'HARD-1', name: 'Éléonore « Ça & Là » Ñandú', city: "L'Anse-à-la-Cabane", credit: '-0.01' },
  {
    code: 'HARD-2',
    name: '北京 😀 "quoted"; select',
    credit: '99999999999999.99',
    creation_date: '1999-12-31',
  },
  { code: 'HARD-3', name: 'tab\tand\nline', credit: '-99999999999999.9999', creation_date: '' },
  { code: 'HARD-4', name: '', credit: '', creation_date: '0000-00-00', term: null, city: null },
  { code: '00042', name: 'NULL', credit: '0.10', creation_date: '2024-02-29' },
  { code: 'HARD-5', name: 'null', credit: null, creation_date: null, inactive: 1 },
];

const LINES: readonly JsonObject[] = [
  { product_price: '0.0001', product_quantity: '3.00', produit_total: '0.00', product_name: 'Écrou ⅜"' },
  { product_price: '12345.6789', produit_total: '-1234567890123.45', product_discount: '-0.50' },
  { product_price: '12345678901234.5678', produit_total: '99999999999999.99' },
  { product_price: '', produit_total: '', produit_poids: null, product_name: '' },
  { product_price: '1.23456', produit_total: '0.30', taxes_rules_id: null }, // A fifth place: no whole number of 0.0001.
  { product_price: '0.1', produit_total: '100000000000000.01', purchase_id: 0 }, // A fifteenth digit.
];

/** Adds these rows to the lists, with contacts and booked items of the same kind, and names rows that no list has. */
export function insertHardRows(world: World): void {
  const inserted = CLIENTS.map((fields) => world.insert('clients', { contacts: [], ...fields }));
  const client = Number(inserted[0]?.['id']);
  world.update('clients', client, { contacts: [CONTACT, { ...CONTACT, id: 2, nom: null, cell: '' }] });
  const product = String(world.ids('products')[0]);
  for (const fields of LINES) world.insert('purchase_products', { ...fields, product_id: product });
  world.insert('purchase_products', { product_id: '0', produit_total: '7.00' });
  world.insert('bookings', { ...BOOKING, client_id: client, items: ITEMS });
  world.insert('bookings', { ...BOOKING, client_id: client, pickup_date: '2049-12-24', items: [] }); // Ahead of any reading.
  world.insert('projects', { nom: 'Projet à l’épreuve', client_id: 0, tasks: [] });
}

const CONTACT: JsonObject = {
  id: 1,
  nom: 'Zoé Côté-Lévesque',
  fonction: 'Acheteuse',
  departement: 'Achats',
  email: '',
  telephone: '418 555-0100',
  cell: '418 555-0101',
  fax: null,
};

const BOOKING: JsonObject = {
  code: 'HARD',
  inactive: 0,
  pickup_date: '0000-00-00',
  delivery_date: '',
  contact: 'Noël',
  distance: '0.00',
  price: '-14.25',
  creation_date: '2025-01-31',
  fact_number: null,
};

const ITEMS: readonly JsonObject[] = [
  {
    id: 1,
    booking_id: 0,
    description: 'Pièce n° 1',
    value: '-14.25',
    total: '99999999999999.9999',
    weight: '',
  },
  {
    id: 2,
    booking_id: 0,
    description: null,
    value: '0.0001',
    total: '-0.01',
    weight: null,
    details: 'à côté',
  },
];
