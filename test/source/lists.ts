import fc from 'fast-check';
import { models, NASTY_NAMES, records, spell, type Model } from '../support/json-models.ts';
import type { ReceivedAnswer } from '../../src/source/http/http.ts';

/** The text of a list, cut at its records: they may stand in an object, among members that try to be mistaken, or bare. */
export interface ListText {
  readonly before: string;
  readonly records: string;
  readonly behind: string;
}

// prettier-ignore
const STRINGS = [
  '[', ']', '{"data":[1]}', '"data":[', '\\"', '"', '\\', '],"data":[', 'é', '🍁', '\u0000', '\ufeff',
];

/** Values, some with strings that look like the ends of values. */
const values: fc.Arbitrary<Model> = fc.oneof(
  { weight: 3, arbitrary: models },
  fc.constantFrom(...STRINGS).map((string) => ({ string })),
  fc.array(models, { maxLength: 3 }).map((array) => ({ object: [['data', { array }] as const] })),
);
const names = fc.oneof(
  fc.constantFrom(...NASTY_NAMES, ...STRINGS, 'Data', 'data ', 'dat', 'datas', 'meta '),
  fc.string({ maxLength: 4 }),
);
const otherMembers = fc.array(fc.tuple(names, values), { maxLength: 3 });
const meta: fc.Arbitrary<readonly (readonly [string, Model])[]> = fc.constantFrom(
  [],
  [['meta', { object: [['total', { number: '7' }]] }] as const],
  [['meta', { array: [] }] as const, ['success', { word: true }] as const],
);
const rows = fc.array(fc.oneof({ weight: 3, arbitrary: records }, values), { maxLength: 5 });
const gaps = fc.constantFrom('', '', ' ', '\r\n\t');

interface Parts {
  readonly array: readonly Model[];
  readonly ahead: readonly (readonly [string, Model])[];
  readonly after: readonly (readonly [string, Model])[];
  readonly isBare: boolean;
  readonly mark: string;
  readonly gap: string;
  readonly choices: Iterator<number>;
}

const parts: fc.Arbitrary<Parts> = fc.record({
  array: rows,
  ahead: fc.tuple(otherMembers, meta).map(([others, meta]) => [...others, ...meta]),
  after: fc.tuple(meta, otherMembers).map(([meta, others]) => [...meta, ...others]),
  isBare: fc.boolean(),
  mark: fc.constantFrom('', '', '\ufeff'),
  gap: gaps,
  choices: fc.infiniteStream(fc.nat(3)),
});

export const lists: fc.Arbitrary<ListText> = parts.map(
  ({ array, ahead, after, isBare, mark, gap, choices }) => {
    const choose = () => choices.next().value as number;
    const text = spell({ array }, choose);
    if (isBare) return { before: mark + gap, records: text, behind: gap };
    const member = ([name, value]: readonly [string, Model]) =>
      `${gap}${JSON.stringify(name)}${gap}:${gap}${spell(value, choose)}${gap}`;
    return {
      before: `${mark}${gap}{${ahead.map((each) => `${member(each)},`).join('')}${gap}"data"${gap}:${gap}`,
      records: text,
      behind: `${gap}${after.map((each) => `,${member(each)}`).join('')}}${gap}`,
    };
  },
);

export const textOf = ({ before, records, behind }: ListText): string => before + records + behind;

/** An answer with status 200, as it reaches people who read it. */
export function received(body: string | Uint8Array): ReceivedAnswer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return {
    status: 200,
    headers: {},
    bytes,
    where: 'GET /x',
    receivedAt: new Date(0),
    holder: '',
    withRedactedErrors: (read) => read(),
  };
}
