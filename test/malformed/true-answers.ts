import { LosslessNumber } from 'lossless-json';
import type { ListedKind } from '../../src/catalog/kind.ts';
import { randomFrom, type Random } from '../../sandbox/generate/draw.ts';
import { bodiesOf, kindOf } from '../world/bodies.ts';
import type { Content, Records } from '../world/records.ts';
import { NO_SECRETS } from '../world/secrets.ts';
import { createService, recordsOf, type Service } from '../world/service.ts';
import { storedFields } from '../world/stored.ts';
import { DOCUMENTED, type Personality } from '../world/traits.ts';
import type { Draft } from './draft.ts';

/** One kind, served by a world of its own: a kind one, whose answers are malformed on the way. */
export interface Served {
  readonly name: ServedName;
  readonly kind: ListedKind;
  readonly service: Service;
  readonly records: Records;
  readonly pageSize: number;
}

/** What a request is about. */
export interface Asked {
  readonly served: Served;
  /** Null for one record. */
  readonly page: number | null;
  /** Null for a list. */
  readonly id: string | null;
}

/** Documented paging with `meta`; paging by answer with `meta`, and without; a list that comes whole, without a word of pages. */
const PLANS = {
  clients: { rows: 28, pageSize: '5 rows' },
  categories: { rows: 23, pageSize: '3 rows' },
  bookings: { rows: 24, pageSize: '10 rows', announced: 'nothing' },
  punches: { rows: 27, pageSize: '1000 rows', announced: 'nothing', asked: 'page ignored' },
} as const satisfies Record<string, Partial<Personality> & { readonly rows: number }>;

type ServedName = keyof typeof PLANS;
const NAMES = Object.keys(PLANS) as readonly ServedName[];

/** A number as its text says it; a float holds few of them. */
const exact = (text: string): LosslessNumber => new LosslessNumber(text);
const amount = (random: Random): LosslessNumber => exact(`${random.integer(-50, 4000)}.${random.digits(2)}`);
const day = (random: Random): string =>
  `20${random.integer(10, 26)}-0${random.integer(1, 9)}-1${random.digits(1)}`;

/** What records show beside what is written of every such kind. */
const SHOWN: Readonly<Record<ServedName, (unique: number, random: Random) => Content>> = {
  clients: (unique, random) => ({
    creation_date: day(random),
    phone: null,
    credit: amount(random),
    term: random.integer(0, 90),
    contacts: [{ id: unique * 7, nom: `Béton ${random.digits(3)}`, email: null }],
    legacy_ref: exact(`90071992547409${random.digits(4)}`),
    rate: exact(`0.1${random.digits(1)}0`),
  }),
  categories: (_unique, random) => ({
    status: 1,
    sync_web: random.integer(0, 1),
    img_paths: [],
    margin: amount(random),
  }),
  bookings: (unique, random) => ({
    code: `B${unique}`,
    inactive: 0,
    pickup_date: day(random),
    client_id: random.integer(1, 99),
    price: amount(random),
    items: [{ id: unique * 3, value: amount(random) }],
  }),
  punches: (_unique, random) => ({ appointment_id: random.integer(1, 99), ptotal: String(amount(random)) }),
};

function bodyOf(name: ServedName, unique: number, random: Random): Content {
  const written = name === 'bookings' ? {} : bodiesOf({ name }).create(unique, random);
  return { ...written, ...SHOWN[name](unique, random) };
}

/** Nothing is written but between pulls, and no trait of these worlds has to do with time. */
const NOW = 0;

export function serveAll(): readonly Served[] {
  return NAMES.map((name, index) => {
    const kind = kindOf(name);
    const { rows, ...traits } = PLANS[name];
    const personality: Personality = { ...DOCUMENTED, ids: 'with gaps', ...traits };
    const service = createService({
      personality,
      rows,
      seed: index,
      kinds: [kind],
      secrets: NO_SECRETS,
      seedRecord: (_kind, number) => bodyOf(name, number, randomFrom('malformed', name, number)),
    });
    const pageSize = Number.parseInt(personality.pageSize, 10);
    return { name, kind, service, pageSize, records: recordsOf(service, name) };
  });
}

/** The JSON text of each record by its id; what is not here is gone. */
export const textsOf = ({ records }: Served): ReadonlyMap<string, string> =>
  new Map(records.at(NOW).map(({ id, text }) => [id, text]));

/** Removes, rewrites and adds a few records, so that the pulls to come have something to find out. */
export function stir(all: readonly Served[], random: Random): void {
  for (const { name, kind, records } of all) {
    const anyId = (): string => random.pick(records.at(NOW)).id;
    const body = (): Content =>
      storedFields(kind, bodyOf(name, random.integer(1000, 9999), random), DOCUMENTED);
    for (let left = random.integer(0, 2); left > 0; left--) records.remove(anyId(), NOW);
    for (let left = random.integer(0, 3); left > 0; left--)
      records.edit(anyId(), body(), { atMs: NOW, actor: 'other' });
    for (let left = random.integer(0, 1); left > 0; left--) records.create(body(), NOW, 'other');
  }
}

export function askedFor(all: readonly Served[], target: string): Asked {
  const url = new URL(target, 'http://service');
  for (const served of all) {
    const { path } = served.kind.list;
    if (url.pathname === path) return { served, page: Number(url.searchParams.get('page') ?? 1), id: null };
    if (url.pathname.startsWith(`${path}/`))
      return { served, page: null, id: decodeURIComponent(url.pathname.slice(path.length + 1)) };
  }
  throw new Error(`No such path: ${target}`);
}

interface Shown {
  readonly id: number;
}

/** The true answer, taken apart for the mutations: around its records no number is one that a float does not hold. */
export function honestDraft({ served, page }: Asked, target: string): Draft {
  const answer = served.service.answer({ method: 'GET', target, body: '' }, NOW);
  if (typeof answer === 'string') throw new Error(`${target}: the answer is ${answer}`);
  const body = JSON.parse(answer.body) as { readonly data?: Shown | readonly Shown[] };
  const texts = textsOf(served);
  return {
    status: answer.status,
    headers: answer.headers,
    members: Object.entries(body).map(([name, value]) => [
      name,
      name === 'data' ? null : JSON.stringify(value),
    ]),
    rows: [body.data ?? []].flat().flatMap(({ id }) => texts.get(String(id)) ?? []),
    isList: page !== null,
    bytes: null,
  };
}
