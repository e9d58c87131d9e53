import type { ListedKind } from '../../src/catalog/kind.ts';
import type { Random } from '../../sandbox/generate/draw.ts';
import { HOUR } from './lasting.ts';
import type { Content } from './records.ts';
import type { Personality, Trait } from './traits.ts';

/** Hours that a trouble lasts, where it shows at all; patience is a day. */
const LASTS: { readonly [Name in Trait]?: readonly [least: number, most: number] } = {
  rights: [26, 36],
  maintenance: [26, 36],
  approval: [26, 36],
  cut: [26, 36],
  window: [24, 40],
  unlisted: [180, 200],
  flips: [3, 20],
  keeping: [10, 16],
  volatile: [3, 6],
  spelling: [4, 8],
  ownShown: [8, 30],
  forbidden: [2, 6],
  succession: [3, 8],
  downtimes: [6, 7],
  named: [1, 2],
  likeMinded: [2, 3],
  token: [26, 60],
};

/** So long that even those have given up who wait three times as long as usual. */
const VERY_LONG = [74, 90] as const;

export function lastsMs(lasting: readonly Trait[], random: Random): number {
  const hours = lasting.map((name) => {
    const [least, most] = LASTS[name] ?? [1, 1];
    const isVeryLong = least === 26 && random.chance(0.1);
    return isVeryLong ? random.integer(...VERY_LONG) : random.integer(least, most);
  });
  return Math.max(...hours) * HOUR;
}

/** The texts that a record of another company has, beside the ones that its kind needs. */
export function filledIn({ fields, naturalKey }: ListedKind, unique: number): Content {
  const isFree = (name: string): boolean => naturalKey === 'all sent fields' || !naturalKey.includes(name);
  const texts = fields.filter(
    ({ type, name, write }) => type === 'text' && write === undefined && isFree(name),
  );
  return Object.fromEntries(texts.slice(0, 6).map(({ name }) => [name, `${name} of ${unique}`]));
}

/** Kinds whose records can be asked for one by one. */
const ASKED = ['clients', 'clients', 'projects', 'categories', 'products'];

/** The kinds that show a trait; none = all. */
export function kindsFor({
  window,
  keeping,
  unlisted,
  forbidden,
  downtimes,
  succession,
  approval,
  cut,
  volatile,
  ties,
  late,
}: Personality): readonly string[] {
  if (late !== 'never') return ['clients', 'clients', 'projects', 'categories', 'punches'];
  if (ties !== 'none') return ['clients', 'projects', 'products'];
  if (window !== 'whole') return ['punches', 'purchase_products'];
  if (keeping !== 'short') return ['clients', 'categories', 'products', 'punches'];
  const isAsked =
    unlisted !== 'none' ||
    forbidden !== 'none' ||
    downtimes !== 'none' ||
    succession !== 'none' ||
    volatile !== 'none';
  if (isAsked) return ASKED;
  return approval !== 'none' || cut !== 'whole' ? [...ASKED, 'punches'] : [];
}

/** How many records there are to begin with where a trouble would not show with fewer. */
export function rowsFor({ rights, flips, ties }: Personality, random: Random): number {
  if (ties !== 'none') return random.pick([30, 40, 47]);
  if (rights === 'most lost of few') return random.integer(5, 9);
  return flips === 'steady' ? random.pick([9, 14, 20, 30, 40]) : random.pick([17, 23, 32, 47]);
}
