import { LosslessNumber } from 'lossless-json';
import type { JsonObject } from '../../src/lib/json/json.ts';
import { CATEGORIES, ITEMS, type Item } from './vocabulary.ts';
import { anyId, randomFrom, type Draw } from './draw.ts';
import { DAYS_OPEN, dayOf, fixed, slug, timeText } from './text-values.ts';

const FAMILY_EVERY = 12; // Of twelve products in a row the first is a parent …
const VARIANTS = 2; // … and the two after it are its variants.

/** A part or a service for sale: some 35 fields; the documentation shows five of them (§2.7). */
export function generateProduct(draw: Draw): JsonObject {
  const { company, random, id, index } = draw;
  const place = index % FAMILY_EVERY;
  const parentIndex = place <= VARIANTS ? index - place : index;
  const item = randomFrom('item', company.systemId, parentIndex).pick(ITEMS); // A family shares its name.
  const category = CATEGORIES.findIndex(({ code }) => code === item.category);
  const cents = Math.round((item.cents * random.integer(95, 140)) / 100);
  const side = (): string => fixed(item.grams === 0 ? 0 : random.integer(40, 900) * 100, 3);
  return {
    id,
    code: codeOf(item, index),
    category_id: company.idOf('categories', category),
    name_fr: item.french,
    name_en: item.english,
    code_cup: `0${random.digits(11)}`,
    origin_product_id: company.idOf('products', parentIndex),
    ...moments(draw),
    type: item.grams === 0 ? 'service' : 'piece',
    status: random.chance(0.92) ? '1' : '0',
    price: fixed(cents * 100, 4), // Money as text and as number within one record, as seen in the wild.
    special_price: random.chance(0.1) ? new LosslessNumber(fixed(Math.floor(cents * 0.9), 2)) : null,
    special_price_from: '0000-00-00',
    special_price_to: '0000-00-00',
    cost: fixed(Math.floor(cents * 0.62) * 100, 4),
    tax_rule_id: 1,
    dimensions_length: side(),
    dimensions_width: side(),
    dimensions_height: side(),
    weight: fixed(item.grams, 3),
    unit: item.grams === 0 ? 'h' : random.pick(['un', 'un', 'boîte', 'L']),
    provider_id: anyId(draw, 'providers'),
    provider_code: random.chance(0.5) ? random.digits(7) : null,
    quantity: fixed(random.integer(0, 80) * 100, 2),
    quantity_minimum: fixed(random.integer(0, 5) * 100, 2),
    location: random.chance(0.6) ? `A${random.digits(1)}-${random.digits(2)}` : '',
    serialized: random.chance(0.05) ? 1 : 0,
    description_fr: random.chance(0.4) ? `${item.french}, qualité d'origine.` : '',
    description_en: random.chance(0.4) ? `${item.english}, original quality.` : null,
    slug: slug(item.french),
    sync_web: random.chance(0.3) ? 1 : 0,
    featured: 0,
    system_id: company.systemId,
    medias: Array.from({ length: random.integer(0, 2) }, (_, at) => ({
      id: id * 2 + at,
      path: `products/${slug(item.french)}-${at + 1}.jpg`,
      position: at,
    })),
    variantes: variantsOf(draw, item, cents),
  };
}

const codeOf = (item: Item, index: number): string => `${item.code}-${String(index + 1).padStart(5, '0')}`;

function moments({ random, company, rank, count }: Draw): JsonObject {
  const day = dayOf({ rank, count });
  const momentOn = (someDay: number): string =>
    `${company.dateOf(someDay)} ${timeText(random.integer(480, 1020))}`;
  const created = momentOn(day);
  const isTouched = random.chance(0.6);
  return {
    created_at: created,
    updated_at: isTouched ? momentOn(Math.min(day + random.integer(1, 90), DAYS_OPEN)) : created,
  };
}

/** A variant's `origin_product_id` is its parent's id: a text here, a number in the list, as seen in the wild. */
function variantsOf({ company, id, index, count }: Draw, item: Item, cents: number): readonly JsonObject[] {
  if (index % FAMILY_EVERY !== 0) return [];
  const indexes = Array.from({ length: VARIANTS }, (_, at) => index + 1 + at).filter(
    (siblingIndex) => siblingIndex < count,
  );
  return indexes.map((siblingIndex) => ({
    id: company.idOf('products', siblingIndex),
    origin_product_id: String(id),
    code: codeOf(item, siblingIndex),
    price: fixed(cents * 100, 4),
  }));
}
