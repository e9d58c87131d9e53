import { LISTED_KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import type { Random } from '../../sandbox/generate/draw.ts';
import type { Content } from './records.ts';

/** What applications and other people write of a kind. */
interface Bodies {
  /** The field that identifies a create, by its name of a write; no two creates share its value. */
  readonly marker: string;
  readonly create: (unique: number, random: Random) => Content;
  /** Fields that are edited; none of them is of the natural key. */
  readonly edit: (unique: number, random: Random) => Content;
}

// prettier-ignore
const WORDS = [
  'Zoé Tremblay', 'Garage Lévesque', "L'Étoile & fils", 'Noël Côté', 'Atelier du Nord', 'Éric  Roy',
];
const phrase = (unique: number, random: Random): string => `${random.pick(WORDS)} ${unique}`;
const money = (random: Random): string => `${random.integer(1, 9_999)}.${random.digits(2)}`;
const time = (minutes: number): string =>
  `${String(Math.floor(minutes / 60) % 24).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

const named = (name: string): Bodies => ({
  marker: 'code',
  create: (unique, random) => ({ code: `zz-${unique}`, [name]: phrase(unique, random) }),
  edit: (unique, random) => ({ [name]: phrase(unique, random) }),
});

export const BODIES: Readonly<Record<string, Bodies>> = {
  clients: {
    marker: 'code',
    create: (unique, random) => ({
      code: `zz-${unique}`,
      name: phrase(unique, random),
      ...(random.chance(0.5) && { credit: money(random) }),
      ...(random.chance(0.3) && { address2: `Bureau ${random.digits(3)}` }),
    }),
    edit: (unique, random) =>
      random.pick<Content>([
        { city: `Ville ${unique}` },
        { credit: money(random) },
        { term: unique % 90 },
        { address2: `Bureau ${unique}`, phone: `418 ${unique}` },
      ]),
  },
  projects: {
    marker: 'name',
    create: (unique, random) => ({ name: phrase(unique, random) }),
    edit: (unique) => ({ description: `Étape ${unique}` }),
  },
  categories: named('name_fr'),
  products: named('name_fr'),
  punches: {
    marker: 'user_id',
    create: (unique, random) => ({
      user_id: unique,
      date: `2026-0${random.integer(1, 9)}-${random.integer(10, 28)}`,
      start_time: time(random.integer(360, 700)),
      end_time: time(random.integer(800, 1_200)),
    }),
    edit: (unique, random) =>
      random.chance(0.5) ? { end_time: time(unique % 1_400) } : { note: `Note ${unique}` },
  },
  purchase_products: {
    marker: 'product_id',
    create: (unique, random) => ({
      purchase_id: String(random.integer(100, 999)),
      product_id: `P${unique}`,
      product_quantity: money(random),
    }),
    edit: (_unique, random) => ({ product_quantity: money(random) }),
  },
};

/** Clients stand for the kinds that are documented best, and are written most. */
// prettier-ignore
const KIND_NAMES = [
  'clients', 'clients', 'clients', 'projects', 'categories', 'products', 'punches', 'purchase_products',
];

export const drawKind = (random: Random): ListedKind => kindOf(random.pick(KIND_NAMES));

export function kindOf(name: string): ListedKind {
  const kind = LISTED_KINDS.find((one) => one.name === name);
  if (kind === undefined) throw new TypeError(`The catalogue lists no ${name}.`);
  return kind;
}

export function bodiesOf({ name }: Pick<ListedKind, 'name'>): Bodies {
  const bodies = BODIES[name];
  if (bodies === undefined) throw new TypeError(`Nothing is written of ${name}.`);
  return bodies;
}

/** The value that identifies a create, in a body as sent or as asked for, without what another spelling adds. */
export function markerOf(kind: Pick<ListedKind, 'name'>, body: Content): string {
  const plain = String(body[bodiesOf(kind).marker])
    .normalize('NFC')
    .replace(/[\s\u200b]+/gu, ' ');
  return `${kind.name} ${plain.trim()}`;
}

// prettier-ignore
const RESPELLED: readonly ((text: string) => string)[] = [
  (text) => `${text} `, (text) => `\u00a0${text}`, (text) => `${text}\t`, (text) => `\u200b ${text}`,
  (text) => text.replace(' ', '\u00a0').normalize('NFD').concat('\n'),
];

/** The same create as somebody else types or pastes it; null where its key is no text, or equal ones are wanted. */
export function inOtherSpelling(kind: ListedKind, body: Content, random: Random): Content | null {
  const { marker } = bodiesOf(kind);
  const text = body[marker];
  if (typeof text !== 'string' || kind.repeats === true) return null;
  return { ...body, [marker]: random.pick(RESPELLED)(text) };
}
