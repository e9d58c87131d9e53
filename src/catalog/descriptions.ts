import { capitalize } from '../lib/text/text.ts';
import { translateAll, type MessageKey, type Translations, type Translator } from '../lib/text/translator.ts';

/** The name of a field for a person, in English and in French, and its content, as far as the documentation or its name shows. */
export interface FieldDescription extends Translations {
  readonly meaning: Translations;
  /** Null where the documentation names none. */
  readonly unit: string | null;
}

type KindEntry = readonly [section: string, one: MessageKey, many: MessageKey, meaning: MessageKey];

/** The section is that of the service's documentation that shows the fields. */
const KINDS: Readonly<Record<string, KindEntry>> = {
  projects: ['2.2', 'project', 'projects', 'Projects; a project may belong to a client.'],
  clients: ['2.3', 'client', 'clients', 'Clients: persons and businesses.'],
  providers: ['2.4', 'provider', 'providers', 'Providers, from whom goods are bought.'],
  purchase_products: ['2.5', 'purchase line', 'purchase lines', 'Lines of purchases.'],
  categories: ['2.6', 'category', 'categories', 'Categories of products.'],
  products: ['2.7', 'product', 'products', 'Products.'],
  punches: ['2.8', 'time punch', 'time punches', 'Time punches: when a user began and ended work.'],
  vehicle_brands: ['2.9', 'vehicle brand', 'vehicle brands', 'Vehicle brands.'],
  departments: ['2.10', 'department', 'departments', 'Departments.'],
  bookings: ['2.11', 'booking', 'bookings', 'Bookings: a pickup and a delivery.'],
  sales_products: ['4.4', 'sales line', 'sales lines', 'Lines of sales, read one by one.'],
};

/** A kind of the settings has no section of the documentation. */
export function describeKindName(kind: string) {
  const [section, , , meaning] = KINDS[kind] ?? [null, null, null, DECLARED_KIND];
  return { section, meaning: translateAll(meaning, { kind }) };
}

const DECLARED_KIND: MessageKey = 'Records of {kind}, a kind of the settings.';

/** The name of a kind, or of one of its records, for people: `purchase lines`, `purchase line`. */
export function kindLabel(translator: Translator, kind: string, of: 'one' | 'many' = 'many'): string {
  if (translator.isTechnical) return kind;
  const known = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  return known === undefined ? kind.replaceAll('_', ' ') : translator.t(known[of === 'one' ? 1 : 2]);
}

/** The name of a field of a kind for people. */
export const fieldLabel = (translator: Translator, kind: string, name: string): string =>
  translator.isTechnical ? name : describeField(kind, { name })[translator.language];

type FieldEntry = readonly [label: MessageKey, meaning: MessageKey, unit?: string];

export const MONEY = 'currency of the company';
const TAX_RULE: FieldEntry = [
  'Tax rule',
  'The number of the tax rule. The service has no list of rules: the taxes of a line show what its rule means.',
];

/** By name, which nearly always means the same in every kind; `kind.name` where it does not. */
const FIELDS: Readonly<Record<string, FieldEntry>> = {
  id: ['Id', 'The number that the service gave the record.'],
  code: ['Code', 'The code that people use for the record.'],
  client_id: ['Client', 'The client; 0 = none.'],
  active: ['Active', '1 = active, 0 = not.'],
  inactive: ['Inactive', '1 = no longer in use, 0 = in use.'],
  nom: ['Name', 'The name.'],
  name: ['Name', 'The name.'],
  description: ['Description', 'Free text.'],
  tasks: ['Tasks', 'The tasks of the project, as JSON.'],
  creation_date: ['Created on', 'The day on which the record was created.'],
  address: ['Address', 'First line of the address.'],
  adresse2: ['Address, line 2', 'Second line of the address.'],
  address2: ['Address, line 2', 'Second line of the address.'],
  city: ['City', 'The city.'],
  state: ['State or province', 'The state or province.'],
  zipcode: ['Postal code', 'The postal code.'],
  phone: ['Phone', 'The phone number.'],
  phone2: ['Phone 2', 'A second phone number.'],
  fax: ['Fax', 'The fax number.'],
  email: ['Email', 'The email address.'],
  website: ['Website', 'The website.'],
  phone_work: ['Phone at work', 'The phone number at work.'],
  credit: ['Credit', 'The credit.', MONEY],
  term: ['Term', 'The payment term; its unit is not documented.'],
  contacts: ['Contacts', 'The contacts of the client, as JSON.'],
  fonction: ['Function', 'The function of the contact.'],
  departement: ['Department', 'The department of the contact.'],
  telephone: ['Phone', 'The phone number.'],
  cell: ['Mobile phone', 'The mobile phone number.'],
  purchase_id: ['Purchase', 'The number of the purchase; the service has no list of purchases.'],
  sale_id: ['Sale', 'The number of the sale; the service has no list of sales.'],
  product_id: ['Product', 'The product; 0 = none.'],
  produit_compte: ['Account', 'The account of the line.'],
  product_name: ['Product name', 'The name of the product on the line.'],
  product_description: ['Product description', 'The description on the line.'],
  produit_projet: ['Project', 'The project of the line, as JSON.'],
  product_quantity: ['Quantity', 'The quantity bought.'],
  produit_quantite_receive: ['Quantity received', 'The quantity received.'],
  produit_quantite_onhold: ['Quantity on hold', 'The quantity on hold.'],
  produit_poids: ['Weight', 'The weight; its unit is not documented.'],
  produit_poids_receive: ['Weight received', 'The weight received.'],
  produit_poids_onhold: ['Weight on hold', 'The weight on hold.'],
  product_price: ['Price', 'The price of one unit.', MONEY],
  product_discount: [
    'Discount',
    'The discount; the documentation does not show whether it is a percentage or an amount.',
  ],
  product_serialnumber: ['Serial number', 'The serial number.'],
  produit_total: ['Total', 'The total of the line.', MONEY],
  taxes_rules_id: TAX_RULE,
  tax_rule_id: TAX_RULE,
  gestion_taxes: ['Taxes', 'The taxes, as a serialized list.'],
  province_id: ['Province', 'The province; the service has no list of them.'],
  system_id: ['Company', 'The company that the record belongs to.'],
  name_fr: ['French name', 'The name in French.'],
  name_en: ['English name', 'The name in English.'],
  status: ['Status', 'The status; its values are not documented.'],
  sync_web: ['On the website', '1 = shown on the website, 0 = not.'],
  img_paths: ['Images', 'The paths of images, as JSON.'],
  category_type: ['Category type', 'The type of the category.'],
  category_id: ['Category', 'The category; 0 = none.'],
  code_cup: ['UPC code', 'The bar code.'],
  origin_product_id: ['Parent product', "A variant's parent; a parent refers to itself; 0 = none."],
  created_at: ['Created at', "When it was created, by the service's clock; its time zone is unknown."],
  updated_at: ['Updated at', "When it was last changed, by the service's clock; its time zone is unknown."],
  type: ['Type', 'The type; its values are not documented.'],
  price: ['Price', 'The price.', MONEY],
  special_price: ['Special price', 'The price of a special offer.', MONEY],
  dimensions_length: ['Length', 'The length; its unit is not documented.'],
  dimensions_width: ['Width', 'The width; its unit is not documented.'],
  dimensions_height: ['Height', 'The height; its unit is not documented.'],
  weight: ['Weight', 'The weight; its unit is not documented.'],
  unit: ['Unit', 'The unit of measure.'],
  provider_id: ['Provider', 'The provider; 0 = none.'],
  medias: ['Media', 'Images and other files, as JSON.'],
  variantes: ['Variants', 'The variants of the product, as JSON.'],
  appointment_id: ['Appointment', 'The appointment; the service has no list of them.'],
  user_id: ['User', 'Who worked; the service has no list of users.'],
  date: ['Date', 'The day.'],
  start_time: ['Start', 'When the work began.'],
  end_time: ['End', 'When the work ended; null = the punch is open.'],
  ptotal: ['Total time', 'The time worked.', 'hours'],
  note: ['Note', 'Free text.'],
  branch_id: ['Branch', 'The branch; the service has no list of them.'],
  categories: ['Categories', 'Ids of categories, as text.'],
  use_default: ['Default', '1 = used by default, 0 = not.'],
  pickup_date: ['Pickup date', 'The day of the pickup.'],
  delivery_date: ['Delivery date', 'The day of the delivery.'],
  contact: ['Contact', 'The contact person.'],
  contact_phone: ['Contact phone', 'The phone number of the contact person.'],
  contact_fax: ['Contact fax', 'The fax number of the contact person.'],
  distance: ['Distance', 'The distance; its unit is not documented.'],
  po_num: ['Purchase order', 'The number of the purchase order.'],
  comm_num: ['Order number', 'The number of the order.'],
  bol_num: ['Bill of lading', 'The number of the bill of lading.'],
  fact_number: ['Invoice number', 'The number of the invoice.'],
  invoice: ['Invoice', 'The number of the invoice.'],
  items: ['Items', 'The goods of the booking, as JSON.'],
  projet_id: ['Project', 'The project of the task.'],
  title: ['Title', 'The title.'],
  start_date: ['Start date', 'The day on which it begins.'],
  end_date: ['End date', 'The day on which it ends.'],
  time_estimated: ['Estimated time', 'The estimated time; its unit is not documented.'],
  time_spent: ['Time spent', 'The time spent; its unit is not documented.'],
  comments: ['Comments', 'The comments on the task, as JSON.'],
  booking_id: ['Booking', 'The booking of the item.'],
  value: ['Value', 'The element: a scalar as text, any other value as JSON.'],
  'bookings_items.value': ['Value', 'The value of one piece.', MONEY],
  length: ['Length', 'The length; its unit is not documented.'],
  width: ['Width', 'The width; its unit is not documented.'],
  height: ['Height', 'The height; its unit is not documented.'],
  number: ['Number', 'How many pieces.'],
  total: ['Total', 'The total of the item.', MONEY],
  details: ['Details', 'Free text.'],
  parent_id: ['Parent', 'The record whose nested array holds this element.'],
  position: ['Position', 'The place in the nested array, from 0.'],
};

interface NamedField {
  readonly name: string;
  readonly textOf?: string;
}

/** Describes a field of a kind or of a nested table; an undocumented field is called by its own name, made readable. */
export function describeField(owner: string, namedField: NamedField): FieldDescription {
  const { name, textOf } = namedField;
  if (textOf !== undefined) {
    const meaning = 'The text of a value of {field} that does not fit its type; null for values that fit.';
    const values = { field: textOf };
    return { ...translateAll('{field} as text', values), meaning: translateAll(meaning, values), unit: null };
  }
  const entry = findEntry(`${owner}.${name}`) ?? findEntry(name);
  if (entry === undefined) {
    const label = labelFromName(name);
    const meaning = translateAll('The documentation does not show this field.');
    return { en: label, fr: label, meaning, unit: null };
  }
  const [label, meaning, unit = null] = entry;
  return { ...translateAll(label), meaning: translateAll(meaning), unit };
}

/** A field of the service may have any name, even that of a member of every object. */
const findEntry = (name: string): FieldEntry | undefined =>
  Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;

/** `tax_rule_id` as "Tax rule id"; a name without letters stays as it is. */
function labelFromName(name: string): string {
  const words = name.replaceAll(/[_\s]+/g, ' ').trim();
  return words === '' ? name : capitalize(words);
}

/** Describes a column that is derived from another one. */
export const describeDerived = (
  words: FieldDescription,
  label: MessageKey,
  meaning: MessageKey,
  unit: string | null,
): FieldDescription => ({
  ...translateAll(label, { label: words }),
  meaning: translateAll(meaning, { meaning: words.meaning }),
  unit,
});

/** Names fields of kinds for people. @param fields `kind.field, kind.field`. */
export function pathLabels(fields: string, translator: Translator): string {
  if (translator.isTechnical) return fields;
  const labels = fields.split(', ').map((path) => {
    const [kind = '', ...name] = path.split('.');
    return `${fieldLabel(translator, kind, name.join('.'))} (${kindLabel(translator, kind)})`;
  });
  return labels.join(', ');
}
