import { kindNamed } from '../../src/catalog/catalog.ts';
import { isListed } from '../../src/catalog/kind.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import type { Json, JsonObject } from '../../src/lib/json/json.ts';
import type { Random } from '../../src/sandbox/generate/draw.ts';
import type { Normalizer } from './written-value.ts';

/** The kinds that the schedules write, with what is peculiar to each. */
export type KindName = 'clients' | 'punches' | 'purchase_products' | 'vehicle_brands';

export interface Shape {
  /** A create's body; no two of them are equal. */
  readonly create: (unique: string, random: Random) => JsonObject;
  /** Fields that people and updates change, by their names of a write, with a value that is not there yet. */
  readonly editable: Readonly<Record<string, (unique: string, random: Random) => Json>>;
  /** Fields of a create in which a look-alike differs; those of the natural key are the same. */
  readonly telling: readonly string[];
}

const words = ['Zoé Tremblay', 'Garage Lévesque', "L'Étoile & fils", 'Noël Côté', 'Atelier du Nord'];

const phrase = (unique: string, random: Random): string => `${unique} ${random.pick(words)}`;
const money = (_unique: string, random: Random): string => `${random.integer(1, 9999)}.${random.digits(2)}`;

export const SHAPES: Readonly<Record<KindName, Shape>> = {
  clients: {
    create: (unique, random) => ({
      code: `zz-${unique}`,
      name: phrase(unique, random),
      ...(random.chance(0.5) && { credit: money(unique, random) }),
      ...(random.chance(0.3) && { address2: `Bureau ${random.digits(3)}` }),
    }),
    editable: {
      name: phrase,
      credit: money,
      address2: (unique) => `Bureau ${unique}`,
      term: (_unique, random) => random.integer(1, 90),
      city: (unique) => `Ville ${unique}`,
    },
    telling: ['name'],
  },
  punches: {
    create: (unique, random) => ({
      user_id: random.integer(1, 9),
      date: `2026-0${random.integer(1, 9)}-${10 + random.integer(0, 18)}`,
      start_time: timeOf(unique),
      end_time: `18:${random.integer(10, 59)}`,
    }),
    editable: {
      end_time: (_unique, random) => `1${random.integer(0, 9)}:${random.integer(10, 59)}`,
      note: phrase,
    },
    telling: ['end_time'],
  },
  purchase_products: {
    create: (unique, random) => ({
      purchase_id: String(random.integer(100, 999)),
      product_id: `P${unique}`,
      product_quantity: money(unique, random),
    }),
    editable: { product_quantity: money, product_name: phrase },
    telling: ['product_quantity'],
  },
  vehicle_brands: {
    create: (unique, random) => ({ name: phrase(unique, random) }),
    editable: { name: phrase },
    telling: ['name'],
  },
};

/** A time of day for each number, so that no two punches have the same natural key. */
function timeOf(unique: string): string {
  const minutes = Number(unique.replace(/\D/g, '')) % 900;
  return `0${Math.floor(minutes / 60) % 10}:${String(minutes % 60).padStart(2, '0')}`;
}

export function listedKind(name: KindName): ListedKind {
  const kind = kindNamed(name);
  if (kind === undefined || !isListed(kind)) throw new TypeError(`The catalogue lists no ${name}.`);
  return kind;
}

/** Another record with the same natural key: a person's, which differs in some sent field. */
export function lookAlike(name: KindName, body: JsonObject, normalizer: Normalizer): JsonObject {
  const [field = ''] = SHAPES[name].telling;
  const value = body[field];
  const sent = typeof value === 'string' ? value : '';
  // A brand has one field only: what resembles it is spelled otherwise.
  if (name === 'vehicle_brands') return { [field]: respelled(sent, normalizer) };
  return { ...body, [field]: OTHERS[name](sent) };
}

const OTHERS: Readonly<Record<Exclude<KindName, 'vehicle_brands'>, (sent: string) => string>> = {
  clients: (sent) => `Bis ${sent}`,
  punches: () => '23:59',
  purchase_products: () => '0.5',
};

const respelled = (text: string, normalizer: Normalizer): string =>
  normalizer === 'upper' ? `${text}.` : text.toUpperCase();
