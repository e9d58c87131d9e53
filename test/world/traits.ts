import { randomFrom, type Random } from '../../sandbox/generate/draw.ts';

/**
 * What a service, people who use it, and our own machine may be like: each trait with its values. The first is the one that
 * the documentation lets expect; the number shows how often each other one is drawn beside its like.
 */
const USUAL = {
  // Stores.
  texts: { 'as sent': 0, trimmed: 2, 'upper case': 2, 'without accents': 2, 'cut at 12': 2, prefixed: 1 },
  codes: { 'as sent': 0, padded: 2, numbered: 1, prefixed: 2, 'cut at 8': 1 },
  times: { 'as sent': 0, 'rounded to 15 minutes': 1 },
  amounts: { 'as sent': 0, 'rounded to one place': 1 },
  fields: { 'all taken': 0, 'defaults filled in': 1, 'one ignored': 1 },
  put: { partial: 0, whole: 2, ignored: 1, late: 2 },
  // Ids.
  ids: { ascending: 0, 'with gaps': 1, reused: 2 },
  // Answers.
  envelope: { 'data and success': 0, data: 1, 'array of one': 1, bare: 1, 'result and code': 1 },
  shown: { whole: 0, partly: 2, altered: 2, absent: 2, 'as a list': 1 },
  status: { '200 OK': 0, '201 Created': 2, '202 Accepted': 1, '204 No Content': 1, '303 See Other': 1 },
  lost: { never: 0, 'before the commit': 2, 'after the commit': 3, 'before or after': 2, unreachable: 1 },
  commit: { 'at once': 0, 'minutes later': 2 },
  replica: {
    none: 0,
    'lists lag': 2,
    'records lag': 1,
    'both lag': 2,
    'lists lag unevenly': 1,
    'both lag unevenly': 1,
  },
  // Refuses.
  refusal: {
    never: 0,
    'in its own JSON': 2,
    'as HTML of an intermediary': 3,
    'as JSON of an intermediary': 1,
  },
  refusedWith: { '422': 0, '403': 1, '404': 1, '413': 1, '429': 2, '502': 1, '503': 2, '504': 1 },
  refusedWhen: { 'before the commit': 0, 'after the commit': 1, 'before or after': 1 },
  retryAfter: { none: 0, seconds: 1, 'a date': 1, garbage: 1 },
  reads: { answered: 0, 'sometimes lost': 2, 'sometimes refused': 2, 'sometimes nonsense': 1 },
  // Lists.
  pageSize: {
    '100 rows': 0,
    '1 row': 1,
    '2 rows': 1,
    '3 rows': 2,
    '5 rows': 3,
    '7 rows': 2,
    '10 rows': 3,
    '15 rows': 3,
    '25 rows': 2,
    '50 rows': 1,
    '500 rows': 1,
    '1000 rows': 1,
  },
  announced: {
    meta: 0,
    'meta as text': 1,
    nothing: 3,
    'meta without total': 2,
    'meta without last_page': 2,
    'meta without both': 2,
    'links only': 2,
    'meta and links': 1,
    'total only': 1,
  },
  asked: { honoured: 0, 'page ignored': 2, 'per_page ignored': 2, 'size changed in mid-life': 1 },
  total: { right: 0, 'one too many': 1, 'one too few': 1, 'a moment old': 2 },
  beyond: { empty: 0, 'last page again': 2, 'not found': 2 },
  order: { documented: 0, 'oldest first': 1, 'newest first': 2, 'by code': 2, unordered: 1, shuffled: 1 },
  cache: { none: 0, 'some pages': 1 },
  // Others, and our own side.
  churn: { little: 0, none: 1, much: 3 },
  equals: { none: 0, some: 2 },
  codesOfOthers: { kept: 0, renumbered: 2 },
  returning: { never: 0, restored: 2 },
  clock: { steady: 0, jumps: 2 },
  deaths: { none: 0, some: 3, 'stands still': 1 },
  processes: { one: 0, two: 2 },
} as const satisfies Table;

/** Troubles that last longer than our patience, some of them for ever: drawn apart, so that histories without one stay as they are. */
const LASTING = {
  // Lists that lack what is there.
  rights: { kept: 0, 'half lost for days': 3, 'most lost of few': 2 },
  maintenance: { none: 0, 'empty lists for days': 3 },
  approval: { none: 0, 'of creates, for days': 2, 'of creates, for ever': 1 },
  cut: { whole: 0, 'first rows by code': 3 },
  window: { whole: 0, 'by threes': 2, 'one by one': 1 },
  unlisted: { none: 0, 'some for ever': 2 },
  // Lists that show something else at each look.
  flips: { steady: 0, 'at each request': 2, 'at random': 2 },
  keeping: {
    short: 0,
    'for hours, hidden': 2,
    'for hours, with Age': 1,
    'for hours, unless asked afresh': 2,
  },
  volatile: { none: 0, 'a field at each look': 2 },
  spelling: { alike: 0, 'HTML in lists': 2, 'blanks in lists': 1, 'noise at times': 1, 'NFD at times': 1 },
  ownShown: { 'at once': 0, 'hours later': 3 },
  // Single records.
  forbidden: { none: 0, 'to read': 2, 'to write': 2 },
  succession: { none: 0, 'ids given to others': 3, 'ids given to alike': 2 },
  downtimes: { none: 0, 'minutes in which nothing is there': 2 },
  // Writes.
  named: {
    'as drawn': 0,
    nowhere: 2,
    'by Location of 201': 1,
    'by Location of 303': 1,
    'by the number of a job': 2,
    'by its id of 200': 1,
  },
  likeMinded: { none: 0, 'others do the same': 2 },
} as const satisfies Table;

/** What views of a record leave out: drawn apart, too, and where nothing lasts. */
const VIEWS = {
  blanks: { shown: 0, 'left out': 3, 'left out of lists': 1, 'left out of records': 1 },
} as const satisfies Table;

/** What people make of codes and names: drawn apart, too. */
const TYPED = {
  keys: { 'as written': 0, 'in two spellings': 1 },
} as const satisfies Table;

/** What came to be known last: each drawn from a stream of its own, so that the histories of all other seeds stay as they are. */
const LATEST = {
  /** Another user's token outlasts patience. */
  token: { 'one user’s': 0, 'another user’s for days': 2, 'two in each sweep': 1 },
  /** Lists are sorted by a day that many records share; these have another order for each page, or for each size of pages. */
  ties: { none: 0, 'another order for each page': 2, 'another order for each size': 1 },
  /** The mirror's database becomes what it was some minutes before. */
  goesBack: { never: 0, 'under living processes': 2, 'with the count of our sends': 2 },
  /** What failed or was lost is carried out hours later, and what is answered shows at once. */
  late: {
    never: 0,
    'lost sends': 2,
    'failures where no create is answered': 1,
    'failures until an outage ends': 2,
  },
} as const satisfies Table;

export const TRAITS = { ...USUAL, ...LASTING, ...VIEWS, ...TYPED, ...LATEST } as const;

type Table = Readonly<Record<string, Readonly<Record<string, number>>>>;
type Traits = typeof TRAITS;
export type Trait = keyof Traits;
export type Personality = { readonly [Name in Trait]: keyof Traits[Name] };

export const TRAIT_NAMES = Object.keys(TRAITS) as readonly Trait[];
const USUAL_NAMES = Object.keys(USUAL) as readonly (keyof typeof USUAL)[];
const LATEST_NAMES = Object.keys(LATEST) as readonly (keyof typeof LATEST)[];
const LASTING_NAMES = Object.keys(LASTING) as readonly (keyof typeof LASTING)[];

/** The service as it is documented, used by few, and a machine that goes on. */
export const DOCUMENTED = Object.fromEntries(
  TRAIT_NAMES.map((name) => [name, firstOf(name)]),
) as unknown as Personality;

function firstOf(name: Trait): string {
  return Object.entries(TRAITS[name]).find(([, weight]) => weight === 0)?.[0] ?? '';
}

/** How many traits are not the documented ones: few enough, often enough, that each shows by itself. */
const PECULIARITIES = [0, 1, 1, 2, 2, 3, 4, 6, 9] as const;

/** The same seed always gives the same personality. */
export function drawPersonality(seed: number): Personality {
  const random = randomFrom('personality', seed);
  const drawn: Record<string, string> = { ...DOCUMENTED };
  for (let left = random.pick(PECULIARITIES); left > 0; left--) {
    const name = random.pick(USUAL_NAMES);
    drawn[name] = drawValue(name, random);
    if (name === 'refusal') drawRefusal(drawn, random);
    if (drawn['deaths'] === 'stands still') drawn['processes'] = 'two'; // Who else would take its work over?
    if (name === 'ids' && random.chance(0.4)) drawn['lost'] = 'after the commit'; // Else a reused id proves nothing.
  }
  drawLasting(drawn, randomFrom('lasting', seed));
  const views = randomFrom('views', seed);
  const personality = drawn as unknown as Personality;
  if (lastingTraits(personality).length > 0) return personality;
  if (views.chance(VIEWS_SHARE))
    return { ...personality, blanks: drawValue('blanks', views) as Personality['blanks'] };
  if (randomFrom('typed', seed).chance(TYPED_SHARE)) return { ...personality, keys: 'in two spellings' };
  return drawLatest(personality, seed);
}

/** Adds the first of the latest traits that a seed has. */
function drawLatest(personality: Personality, seed: number): Personality {
  for (const name of LATEST_NAMES) {
    const random = randomFrom(LATEST_STREAM, name, seed);
    if (!random.chance(name === 'late' ? LONG_SHARE : LATEST_SHARE)) continue;
    const drawn: Record<string, string> = { ...personality, [name]: drawValue(name, random) };
    addCompanions(drawn, name, random);
    return drawn as unknown as Personality;
  }
  return personality;
}

/** The share of histories with a trouble that outlasts patience, and of those the share with a second one. */
const LASTING_SHARE = 0.35;
const SECOND_SHARE = 0.15;

/** The share of the other histories in which some view leaves blanks out. */
const VIEWS_SHARE = 0.1;

/** The share of the rest in which people write keys in two spellings. */
const TYPED_SHARE = 0.1;

/** The share of what is left that has one of the latest traits, and a name by which none of the seeds in found-at.json has one. */
const LATEST_SHARE = 0.03;
const LATEST_STREAM = 'latest 1';
/** That of histories which begin with a week of creates. */
const LONG_SHARE = 0.012;

function drawLasting(drawn: Record<string, string>, random: Random): void {
  if (!random.chance(LASTING_SHARE)) return;
  for (const name of [random.pick(LASTING_NAMES), random.pick(LASTING_NAMES)]) {
    drawn[name] = drawValue(name, random);
    addCompanions(drawn, name, random);
    if (!random.chance(SECOND_SHARE)) return;
  }
}

function addCompanions(drawn: Record<string, string>, name: Trait, random: Random): void {
  for (const [other, values] of Object.entries<readonly string[]>(COMPANIONS[name] ?? {}))
    drawn[other] = random.pick(values);
}

const LOST = ['never', 'after the commit', 'after the commit', 'before or after'] as const;

/** Traits without which a lasting trouble would not show. */
const COMPANIONS: Partial<Record<Trait, { readonly [Name in Trait]?: readonly Personality[Name][] }>> = {
  rights: { lost: LOST },
  maintenance: { lost: LOST },
  approval: { lost: LOST },
  cut: { lost: LOST },
  flips: {
    lost: LOST,
    announced: ['meta without both', 'meta without total'],
    pageSize: ['5 rows', '7 rows', '10 rows'],
    order: ['documented'],
    asked: ['honoured'],
  },
  keeping: {
    pageSize: ['5 rows', '7 rows', '15 rows'],
    codesOfOthers: ['renumbered'],
    churn: ['little', 'much'],
  },
  named: {
    lost: ['never', 'never', 'before or after'],
    approval: ['none', 'of creates, for days'],
  },
  likeMinded: { lost: ['before the commit', 'before or after'] },
  ownShown: { replica: ['none'], cache: ['none'] },
  token: { lost: LOST, pageSize: ['5 rows', '7 rows', '10 rows'], processes: ['one'] },
  late: {
    lost: ['after the commit'],
    refusal: ['in its own JSON'],
    refusedWith: ['503'],
    refusedWhen: ['before the commit'],
    commit: ['at once'],
    shown: ['whole'],
    status: ['200 OK', '201 Created'],
    texts: ['as sent'],
    codes: ['as sent'],
    replica: ['none'],
    cache: ['none'],
    reads: ['answered'],
    asked: ['honoured'],
    announced: ['meta'],
    total: ['right'],
    beyond: ['empty'],
    order: ['documented'],
  },
  ties: {
    pageSize: ['10 rows', '15 rows', '25 rows'],
    announced: ['meta', 'meta as text', 'meta without last_page', 'meta and links'],
    total: ['right'],
    asked: ['honoured'],
    beyond: ['empty'],
    order: ['documented'],
    cache: ['none'],
  },
};

const OUTLASTING: readonly Trait[] = [...LASTING_NAMES, 'token'];

/** The traits in which a personality has a trouble that outlasts patience. */
export const lastingTraits = (personality: Personality): readonly Trait[] =>
  OUTLASTING.filter((name) => personality[name] !== DOCUMENTED[name]);

/** The same, without what outlasts patience, and without the latest traits. */
export const withoutLasting = (personality: Personality): Personality => ({
  ...personality,
  ...Object.fromEntries([...LASTING_NAMES, ...LATEST_NAMES].map((name) => [name, DOCUMENTED[name]])),
});

/** A way of refusing says something only with a status and an instant. */
function drawRefusal(drawn: Record<string, string>, random: Random): void {
  for (const name of ['refusedWith', 'refusedWhen', 'retryAfter'] as const)
    drawn[name] = random.chance(0.7) ? drawValue(name, random) : firstOf(name);
}

function drawValue(name: Trait, random: Random): string {
  const choices = Object.entries<number>(TRAITS[name]).flatMap(([value, weight]) =>
    Array.from({ length: weight }, () => value),
  );
  return random.pick(choices);
}

/** The traits in which a personality is not the documented one, as `trait: value`. */
export function peculiarities(personality: Personality): readonly string[] {
  return TRAIT_NAMES.filter((name) => personality[name] !== DOCUMENTED[name]).map(
    (name) => `${name}: ${personality[name]}`,
  );
}
