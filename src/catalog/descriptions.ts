import { translateAll, type Translations, type MessageKey } from '../lib/text/translator.ts';

/** The name of a field for a person, in English and in French, and its content, as far as the documentation or its name shows. */
export interface FieldDescription extends Translations {
  readonly meaning: Translations;
  /** Null where the documentation names none. */
  readonly unit: string | null;
}

/** `section` is that of the service's documentation that shows the fields. */
const KINDS: Readonly<Record<string, { readonly section: string; readonly meaning: MessageKey }>> = {
  projects: { section: '2.2', meaning: 'Projects; a project may belong to a client.' },
  clients: { section: '2.3', meaning: 'Clients: persons and businesses.' },
  providers: { section: '2.4', meaning: 'Providers, from whom goods are bought.' },
  purchase_products: { section: '2.5', meaning: 'Lines of purchases.' },
  categories: { section: '2.6', meaning: 'Categories of products.' },
  products: { section: '2.7', meaning: 'Products.' },
  punches: { section: '2.8', meaning: 'Time punches: when a user began and ended work.' },
  vehicle_brands: { section: '2.9', meaning: 'Vehicle brands.' },
  departments: { section: '2.10', meaning: 'Departments.' },
  bookings: { section: '2.11', meaning: 'Bookings: a pickup and a delivery.' },
  sales_products: { section: '4.4', meaning: 'Lines of sales, read one by one.' },
};

/** A kind of the settings has no section of the documentation. */
export function describeKindName(kind: string): {
  readonly section: string | null;
  readonly meaning: Translations;
} {
  const { section, meaning } = KINDS[kind] ?? { section: null, meaning: DECLARED_KIND };
  return { section, meaning: translateAll(meaning, { kind }) };
}

const DECLARED_KIND: MessageKey = 'Records of {kind}, a kind of the settings.';

type FieldEntry = readonly [en: string, fr: string, meaning: MessageKey, unit?: string];

const MONEY = 'currency of the company';

/** By name, which nearly always means the same in every kind; `kind.name` where it does not. */
const FIELDS: Readonly<Record<string, FieldEntry>> = {
  id: ['Id', 'Identifiant', 'The number that the service gave the record.'],
  code: ['Code', 'Code', 'The code that people use for the record.'],
  client_id: ['Client', 'Client', 'The client; 0 = none.'],
  active: ['Active', 'Actif', '1 = active, 0 = not.'],
  inactive: ['Inactive', 'Inactif', '1 = no longer in use, 0 = in use.'],
  nom: ['Name', 'Nom', 'The name.'],
  name: ['Name', 'Nom', 'The name.'],
  description: ['Description', 'Description', 'Free text.'],
  tasks: ['Tasks', 'Tâches', 'The tasks of the project, as JSON.'],
  creation_date: ['Created on', 'Date de création', 'The day on which the record was created.'],
  address: ['Address', 'Adresse', 'First line of the address.'],
  adresse2: ['Address, line 2', 'Adresse (suite)', 'Second line of the address.'],
  address2: ['Address, line 2', 'Adresse (suite)', 'Second line of the address.'],
  city: ['City', 'Ville', 'The city.'],
  state: ['State or province', 'Province ou état', 'The state or province.'],
  zipcode: ['Postal code', 'Code postal', 'The postal code.'],
  phone: ['Phone', 'Téléphone', 'The phone number.'],
  phone2: ['Phone 2', 'Téléphone 2', 'A second phone number.'],
  fax: ['Fax', 'Télécopieur', 'The fax number.'],
  email: ['Email', 'Courriel', 'The email address.'],
  website: ['Website', 'Site web', 'The website.'],
  phone_work: ['Phone at work', 'Téléphone au travail', 'The phone number at work.'],
  credit: ['Credit', 'Crédit', 'The credit.', MONEY],
  term: ['Term', 'Terme', 'The payment term; its unit is not documented.'],
  contacts: ['Contacts', 'Contacts', 'The contacts of the client, as JSON.'],
  fonction: ['Function', 'Fonction', 'The function of the contact.'],
  departement: ['Department', 'Département', 'The department of the contact.'],
  telephone: ['Phone', 'Téléphone', 'The phone number.'],
  cell: ['Mobile phone', 'Cellulaire', 'The mobile phone number.'],
  purchase_id: ['Purchase', 'Achat', 'The number of the purchase; the service has no list of purchases.'],
  sale_id: ['Sale', 'Vente', 'The number of the sale; the service has no list of sales.'],
  product_id: ['Product', 'Produit', 'The product; 0 = none.'],
  produit_compte: ['Account', 'Compte', 'The account of the line.'],
  product_name: ['Product name', 'Nom du produit', 'The name of the product on the line.'],
  product_description: ['Product description', 'Description du produit', 'The description on the line.'],
  produit_projet: ['Project', 'Projet', 'The project of the line, as JSON.'],
  product_quantity: ['Quantity', 'Quantité', 'The quantity bought.'],
  produit_quantite_receive: ['Quantity received', 'Quantité reçue', 'The quantity received.'],
  produit_quantite_onhold: ['Quantity on hold', 'Quantité en attente', 'The quantity on hold.'],
  produit_poids: ['Weight', 'Poids', 'The weight; its unit is not documented.'],
  produit_poids_receive: ['Weight received', 'Poids reçu', 'The weight received.'],
  produit_poids_onhold: ['Weight on hold', 'Poids en attente', 'The weight on hold.'],
  product_price: ['Price', 'Prix', 'The price of one unit.', MONEY],
  product_discount: [
    'Discount',
    'Rabais',
    'The discount; the documentation does not show whether it is a percentage or an amount.',
  ],
  product_serialnumber: ['Serial number', 'Numéro de série', 'The serial number.'],
  produit_total: ['Total', 'Total', 'The total of the line.', MONEY],
  taxes_rules_id: [
    'Tax rule',
    'Règle de taxes',
    'The number of the tax rule. The service has no list of rules: the taxes of a line show what its rule means.',
  ],
  tax_rule_id: [
    'Tax rule',
    'Règle de taxes',
    'The number of the tax rule. The service has no list of rules: the taxes of a line show what its rule means.',
  ],
  gestion_taxes: ['Taxes', 'Taxes', 'The taxes, as a serialized list.'],
  province_id: ['Province', 'Province', 'The province; the service has no list of them.'],
  system_id: ['Company', 'Compagnie', 'The company that the record belongs to.'],
  name_fr: ['French name', 'Nom français', 'The name in French.'],
  name_en: ['English name', 'Nom anglais', 'The name in English.'],
  status: ['Status', 'Statut', 'The status; its values are not documented.'],
  sync_web: ['On the website', 'Sur le web', '1 = shown on the website, 0 = not.'],
  img_paths: ['Images', 'Images', 'The paths of images, as JSON.'],
  category_type: ['Category type', 'Type de catégorie', 'The type of the category.'],
  category_id: ['Category', 'Catégorie', 'The category; 0 = none.'],
  code_cup: ['UPC code', 'Code CUP', 'The bar code.'],
  origin_product_id: [
    'Parent product',
    "Produit d'origine",
    "A variant's parent; a parent refers to itself; 0 = none.",
  ],
  created_at: [
    'Created at',
    'Création',
    "When it was created, by the service's clock; its time zone is unknown.",
  ],
  updated_at: [
    'Updated at',
    'Dernière modification',
    "When it was last changed, by the service's clock; its time zone is unknown.",
  ],
  type: ['Type', 'Type', 'The type; its values are not documented.'],
  price: ['Price', 'Prix', 'The price.', MONEY],
  special_price: ['Special price', 'Prix spécial', 'The price of a special offer.', MONEY],
  dimensions_length: ['Length', 'Longueur', 'The length; its unit is not documented.'],
  dimensions_width: ['Width', 'Largeur', 'The width; its unit is not documented.'],
  dimensions_height: ['Height', 'Hauteur', 'The height; its unit is not documented.'],
  weight: ['Weight', 'Poids', 'The weight; its unit is not documented.'],
  unit: ['Unit', 'Unité', 'The unit of measure.'],
  provider_id: ['Provider', 'Fournisseur', 'The provider; 0 = none.'],
  medias: ['Media', 'Médias', 'Images and other files, as JSON.'],
  variantes: ['Variants', 'Variantes', 'The variants of the product, as JSON.'],
  appointment_id: ['Appointment', 'Rendez-vous', 'The appointment; the service has no list of them.'],
  user_id: ['User', 'Utilisateur', 'Who worked; the service has no list of users.'],
  date: ['Date', 'Date', 'The day.'],
  start_time: ['Start', 'Début', 'When the work began.'],
  end_time: ['End', 'Fin', 'When the work ended; null = the punch is open.'],
  ptotal: ['Total time', 'Temps total', 'The time worked.', 'hours'],
  note: ['Note', 'Note', 'Free text.'],
  branch_id: ['Branch', 'Succursale', 'The branch; the service has no list of them.'],
  categories: ['Categories', 'Catégories', 'Ids of categories, as text.'],
  use_default: ['Default', 'Par défaut', '1 = used by default, 0 = not.'],
  pickup_date: ['Pickup date', 'Date de ramassage', 'The day of the pickup.'],
  delivery_date: ['Delivery date', 'Date de livraison', 'The day of the delivery.'],
  contact: ['Contact', 'Contact', 'The contact person.'],
  contact_phone: ['Contact phone', 'Téléphone du contact', 'The phone number of the contact person.'],
  contact_fax: ['Contact fax', 'Télécopieur du contact', 'The fax number of the contact person.'],
  distance: ['Distance', 'Distance', 'The distance; its unit is not documented.'],
  po_num: ['Purchase order', 'Bon de commande', 'The number of the purchase order.'],
  comm_num: ['Order number', 'Numéro de commande', 'The number of the order.'],
  bol_num: ['Bill of lading', 'Connaissement', 'The number of the bill of lading.'],
  fact_number: ['Invoice number', 'Numéro de facture', 'The number of the invoice.'],
  invoice: ['Invoice', 'Facture', 'The number of the invoice.'],
  items: ['Items', 'Articles', 'The goods of the booking, as JSON.'],
  projet_id: ['Project', 'Projet', 'The project of the task.'],
  title: ['Title', 'Titre', 'The title.'],
  start_date: ['Start date', 'Date de début', 'The day on which it begins.'],
  end_date: ['End date', 'Date de fin', 'The day on which it ends.'],
  time_estimated: ['Estimated time', 'Temps estimé', 'The estimated time; its unit is not documented.'],
  time_spent: ['Time spent', 'Temps passé', 'The time spent; its unit is not documented.'],
  comments: ['Comments', 'Commentaires', 'The comments on the task, as JSON.'],
  booking_id: ['Booking', 'Réservation', 'The booking of the item.'],
  value: ['Value', 'Valeur', 'The element: a scalar as text, any other value as JSON.'],
  'bookings_items.value': ['Value', 'Valeur', 'The value of one piece.', MONEY],
  length: ['Length', 'Longueur', 'The length; its unit is not documented.'],
  width: ['Width', 'Largeur', 'The width; its unit is not documented.'],
  height: ['Height', 'Hauteur', 'The height; its unit is not documented.'],
  number: ['Number', 'Nombre', 'How many pieces.'],
  total: ['Total', 'Total', 'The total of the item.', MONEY],
  details: ['Details', 'Détails', 'Free text.'],
  parent_id: ['Parent', 'Parent', 'The record whose nested array holds this element.'],
  position: ['Position', 'Position', 'The place in the nested array, from 0.'],
};

interface NamedField {
  readonly name: string;
  readonly textOf?: string;
}

/** The words for a field of a kind or of a nested table; an undocumented one is called by its own name, made readable. */
export function describeField(owner: string, namedField: NamedField): FieldDescription {
  const { name, textOf } = namedField;
  if (textOf !== undefined) {
    const meaning = 'The text of a value of {field} that does not fit its type; null for values that fit.';
    const field = textOf;
    return {
      ...translateAll('{field} as text', { field }),
      meaning: translateAll(meaning, { field }),
      unit: null,
    };
  }
  const entry = findEntry(`${owner}.${name}`) ?? findEntry(name);
  if (entry === undefined) {
    const label = labelFromName(name);
    const meaning = translateAll('The documentation does not show this field.');
    return { en: label, fr: label, meaning, unit: null };
  }
  const [en, fr, meaning, unit = null] = entry;
  return { en, fr, meaning: translateAll(meaning), unit };
}

/** A field of the service may have any name, that of an object's own members too. */
const findEntry = (name: string): FieldEntry | undefined =>
  Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;

/** `tax_rule_id` as "Tax rule id"; a name without letters stays as it is. */
function labelFromName(name: string): string {
  const words = name.replaceAll(/[_\s]+/g, ' ').trim();
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

/** The words for the columns that stand beside a decimal, and beside a nested record. */
export const describeExactColumn = (words: FieldDescription): FieldDescription => ({
  ...translateAll('{label}, exact', { label: words }),
  meaning: translateAll('{meaning} The exact value as text.', { meaning: words.meaning }),
  unit: words.unit,
});

export const describeIdColumn = (words: FieldDescription): FieldDescription => ({
  ...translateAll('{label}, id', { label: words }),
  meaning: translateAll('{meaning} Its id; 0 = none.', { meaning: words.meaning }),
  unit: null,
});

export const describeUnitColumn = (words: FieldDescription): FieldDescription => ({
  ...translateAll('{label}, in 0.0001', { label: words }),
  meaning: translateAll('{meaning} In units of 0.0001, for exact sums.', { meaning: words.meaning }),
  unit: words.unit === null ? '0.0001' : `0.0001 ${words.unit}`,
});
