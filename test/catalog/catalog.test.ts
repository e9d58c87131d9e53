import { describe, expect, test } from 'vitest';
import { KINDS, documentedKind, LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import { isListed, type Field, type Kind } from '../../src/catalog/kind.ts';

/** The tables of the service's documentation (§2), typed in again from its text: `name type[scale][>write]`. */
const DOCUMENTED_FIELDS: Record<string, string> = {
  projects: `id integer, code text, client_id integer, active flag, nom text>name, description text, tasks json`,
  clients: `id integer, code text, name text, inactive flag, creation_date date, address text, adresse2 text>address2,
    city text, state text, zipcode text, phone text, phone2 text, fax text, email text, website text, phone_work text,
    credit decimal2, term integer, contacts json`,
  providers: `id integer, code text, name text, inactive flag, creation_date date, address text, address2 text,
    city text, state text, zipcode text, phone text, fax text, email text, website text, term integer,
    credit decimal2`,
  purchase_products: `id integer, purchase_id integer as text, product_id text, produit_compte text, product_name text,
    product_description text, produit_projet json, product_quantity decimal2, produit_quantite_receive decimal2,
    produit_quantite_onhold decimal2, produit_poids decimal3, produit_poids_receive decimal3,
    produit_poids_onhold decimal3, product_price decimal4, product_discount decimal2, product_serialnumber text,
    produit_total decimal2, taxes_rules_id integer, gestion_taxes text, province_id integer, system_id integer`,
  categories: `id integer, code text, name_fr text, name_en text`,
  products: `id integer, code text, category_id integer, name_fr text, name_en text`,
  punches: `id integer, appointment_id integer, user_id integer, date date, start_time time as HH:MM,
    end_time time as HH:MM, ptotal decimal2, note text, system_id integer`,
  vehicle_brands: `id integer`,
  departments: `id integer, branch_id integer, name text, categories text, use_default flag, system_id integer`,
  bookings: `id integer`,
  sales_products: `id integer`,
};

const CONTACT = `id integer, nom text, fonction text, departement text, email text, telephone text, cell text, fax text`;

/** The endpoints of §4 with the header spellings of §5; `*` is `Authentication`, `**` is `Authentification`. */
const DOCUMENTED_ENDPOINTS: Record<string, readonly string[]> = {
  projects: [
    'GET * /api/projects',
    'GET * /api/projects/:id',
    'POST * /api/projects',
    'PUT * /api/projects/:id',
  ],
  clients: ['GET * /api/clients', 'GET * /api/clients/:id', 'POST * /api/clients', 'PUT * /api/clients/:id'],
  providers: [
    'GET * /api/providers',
    'GET * /api/providers/:id',
    'POST * /api/providers',
    'PUT * /api/providers/:id',
  ],
  purchase_products: [
    'GET * /api/purchases_products',
    'GET * /api/sales_products/:id',
    'POST * /api/purchases_products',
    'PUT * /api/purchases_products/:id',
  ],
  categories: [
    'GET * /api/categories',
    'GET * /api/categories/:id',
    'POST * /api/categories',
    'PUT * /api/categories/:id',
  ],
  products: [
    'GET * /api/products',
    'GET * /api/products/:id',
    'POST * /api/products',
    'PUT * /api/products/:id',
  ],
  punches: ['GET * /api/punch', 'GET * /api/categories/:id', 'POST * /api/punch', 'PUT * /api/punch/:id'],
  vehicle_brands: [
    'GET Authorization /api/vehicles_brands',
    'GET ** /api/vehicles_brands/:id',
    'POST ** /api/vehicles_brands',
    'PUT ** /api/vehicles_brands/:id',
  ],
  departments: ['GET * /api/departments', 'GET * /api/departments/:id'],
  bookings: ['GET ** /api/bookings', 'GET ** /api/bookings/:id'],
  sales_products: ['GET * /api/sales_products/:id'],
};

const CREATE_BODIES: [string, readonly string[]][] = [
  ['projects', ['name']],
  ['clients', ['code', 'name']],
  ['providers', ['code', 'name']],
  ['purchase_products', ['purchase_id', 'product_id']],
  ['categories', ['code', 'name_fr', 'name_en']],
  ['products', ['code', 'category_id', 'name_fr', 'name_en']],
  ['punches', ['user_id', 'date', 'start_time', 'end_time']],
  ['vehicle_brands', []],
];

const named = (name: string): Kind => documentedKind(name) ?? expect.fail(`no kind ${name}`);

function fieldsText(fields: readonly Field[]): string[] {
  return fields.map(({ name, type, scale, write }) => {
    const renamed = write?.name === undefined ? '' : `>${write.name}`;
    const written = write?.as === undefined ? '' : ` as ${write.as}`;
    return `${name} ${type}${scale ?? ''}${renamed}${written}`;
  });
}

const expected = (text: string | undefined): string[] => (text ?? '').split(',').map((field) => field.trim());

/** The kinds of the service's documentation; the catalogue may have more. */
const DOCUMENTED = KINDS.filter(({ name }) => Object.hasOwn(DOCUMENTED_FIELDS, name));

test('the kinds begin with those of the contract, in its order', () => {
  expect(KINDS.slice(0, DOCUMENTED.length)).toEqual(DOCUMENTED);
  expect(DOCUMENTED.map(({ name }) => name).join(' ')).toBe(
    'projects clients providers purchase_products categories products punches vehicle_brands departments bookings ' +
      'sales_products',
  );
});

test('pull sweeps every kind with a list: of the documented ones, all but sales_products', () => {
  expect(LISTED_KINDS).toEqual(KINDS.filter(isListed));
  expect(DOCUMENTED.filter((kind) => !isListed(kind)).map(({ name }) => name)).toEqual(['sales_products']);
});

test.each(['Clients', 'client', 'purchases_products', '', 'constructor', '__proto__'])(
  'there is no kind named %j',
  (name) => {
    expect(documentedKind(name)).toBeUndefined();
  },
);

describe.each(Object.keys(DOCUMENTED_FIELDS))('%s', (name) => {
  test('has exactly the documented fields, in their order', () => {
    expect(fieldsText(named(name).fields)).toEqual(expected(DOCUMENTED_FIELDS[name]));
  });

  test('has exactly the documented operations, paths and headers', () => {
    const { list, retrieve, create, update } = named(name);
    const endpoints = Object.entries({ GET: list, 'GET ': retrieve, POST: create, PUT: update }).flatMap(
      ([method, endpoint]) =>
        endpoint === null ? [] : [`${method.trim()} ${endpoint.header} ${endpoint.path}`],
    );
    const spelled = DOCUMENTED_ENDPOINTS[name]?.map((line) =>
      line.replace(' ** ', ' Authentification ').replace(' * ', ' Authentication '),
    );
    expect(endpoints).toEqual(spelled);
  });
});

describe.each(KINDS)('$name', ({ create, fields, hints }) => {
  const all = [...fields, ...hints];

  test('names no field twice, neither shown nor hinted', () => {
    const names = all.map((field) => field.name.toLowerCase());
    expect(names.filter((field, at) => names.indexOf(field) !== at)).toEqual([]);
  });

  test('leaves the underscore to our own columns and the twins to decimals', () => {
    const names = all.map((field) => field.name);
    expect(names.filter((field) => /^_|_real$|_e4$|_exact$/.test(field))).toEqual([]);
  });

  test('refers only to kinds of the catalogue', () => {
    const nested = all.flatMap(({ items = [] }) => items);
    const targets = [...all, ...nested].flatMap(({ refersTo = [] }) => refersTo);
    expect(targets.filter((target) => documentedKind(target) === undefined)).toEqual([]);
  });

  test('has only fields in the body of a create, by the names of a write', () => {
    const writable = fields.map((field) => field.write?.name ?? field.name);
    expect(create?.body.filter((field) => !writable.includes(field)) ?? []).toEqual([]);
  });
});

test('a contact has the fields of §2.3', () => {
  const contacts = named('clients').fields.find(({ name }) => name === 'contacts');
  expect(fieldsText(contacts?.items ?? [])).toEqual(expected(CONTACT));
});

test('nested fields are those seen in the wild', () => {
  const itemsOf = (fields: readonly Field[], of: string) =>
    (fields.find(({ name }) => name === of)?.items ?? []).map(({ name }) => name).join(', ');
  expect(itemsOf(named('projects').fields, 'tasks')).toBe(
    'id, projet_id, active, creation_date, title, start_date, end_date, status, time_estimated, time_spent, ' +
      'description, comments',
  );
  expect(itemsOf(named('bookings').hints, 'items')).toBe(
    'id, booking_id, description, value, length, width, height, number, weight, total, details',
  );
});

test('only the two printed wrongly are marked as misprints (§4.4, §4.7)', () => {
  const misprints = DOCUMENTED.filter(({ retrieve }) => retrieve?.misprint !== undefined);
  expect(misprints.map(({ name }) => name)).toEqual(['purchase_products', 'punches']);
});

test('only lists that document page and per_page are paged by them (§8)', () => {
  const paged = DOCUMENTED.filter(isListed).filter(({ list }) => list.paging === 'documented');
  expect(paged.map(({ name }) => name)).toEqual(['projects', 'clients', 'providers', 'products']);
});

test.each([
  ['projects', 'created, oldest first'],
  ['clients', 'code'],
  ['providers', 'code'],
  ['products', 'created, newest first'],
  ['bookings', 'pickup date, newest first'],
  ['purchase_products', 'unknown'],
  ['categories', 'unknown'],
  ['punches', 'unknown'],
  ['vehicle_brands', 'unknown'],
  ['departments', 'unknown'],
])('the list of %s is sorted by: %s', (name, order) => {
  expect(named(name).list?.order).toBe(order);
});

test.each(CREATE_BODIES)('a create of %s has the body %j', (name, body) => {
  expect(named(name).create?.body).toEqual(body);
  expect(named(name).update?.body).toEqual([]);
});

test.each<[string, Kind['naturalKey']]>([
  ['projects', ['nom']],
  ['clients', ['code']],
  ['providers', ['code']],
  ['categories', ['code']],
  ['products', ['code']],
  ['purchase_products', ['purchase_id', 'product_id']],
  ['punches', ['user_id', 'date', 'start_time']],
  ['vehicle_brands', 'all sent fields'],
])('records of %s are the same thing by %j', (name, key) => {
  expect(named(name).naturalKey).toEqual(key);
});

test.each([
  [
    'products',
    'code_cup text, origin_product_id integer, created_at timestamp, updated_at timestamp, type text',
  ],
  ['products', 'status text, price decimal4, special_price decimal4, weight decimal3, provider_id integer'],
  ['categories', 'status flag, sync_web flag, img_paths json, category_type text'],
  [
    'bookings',
    'inactive flag, pickup_date date, client_id integer, distance decimal2, price decimal2, items json',
  ],
  ['purchase_products', 'sale_id integer'],
  [
    'sales_products',
    'sale_id integer, purchase_id integer as text, product_price decimal4, gestion_taxes text',
  ],
])('the hints of %s know what was seen in the wild: %s', (name, fields) => {
  expect(fieldsText(named(name).hints)).toEqual(expect.arrayContaining(expected(fields)));
});
