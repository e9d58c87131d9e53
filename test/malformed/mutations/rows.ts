import { compactJson } from '../../../src/lib/json/json.ts';
import { NASTY_VALUES } from '../../support/nasty-values.ts';
import { withRow, type Mutation, type Scene } from '../draft.ts';
import { nested } from './envelope.ts';

const row =
  (rewrite: (row: string, scene: Scene) => string): Mutation =>
  (draft, scene) =>
    withRow(draft, scene, (text) => rewrite(text, scene));

const rows =
  (change: (rows: readonly string[], scene: Scene) => readonly string[]): Mutation =>
  (draft, scene) => ({ ...draft, rows: change(draft.rows, scene) });

const withId = (id: string) => (text: string) => text.replace(/"id":\d+/, `"id":${id}`);
const withMore = (text: string, more: string): string => text.replace(/\}$/, `,${more}}`);
const fieldOf = (text: string, { random }: Scene): string =>
  random.pick(Object.keys(JSON.parse(text) as object).filter((name) => name !== 'id'));

// prettier-ignore
const ODD_IDS = [
  'null', '""', '"x"', '0', '-5', '7.0', '"07"', '1e2', '" 7"', 'true', '[]', '{}', '[7]', '{"id":7}',
  '9223372036854775808', '"9223372036854775808"', '18446744073709551616', '0.5', '"7.0"', '"٧"',
  '"7\\u0000"', '"\\ud800"', '1e400', '-0', '"null"',
];
const NASTY_TEXTS = NASTY_VALUES.map((value) => compactJson(value)).filter((text) => text.length < 3000);
// prettier-ignore
const ODD_NAMES = [
  '__proto__', 'constructor', 'toJSON', 'isLosslessNumber', '', 'ID', '_raw', 'a\u0000', '\ud800', 'a"b',
  'x'.repeat(200), 'code_real',
];

function swapped(text: string, scene: Scene, value: string): string {
  const name = fieldOf(text, scene);
  const parts = Object.keys(JSON.parse(text) as object).map((member) => {
    const own = new RegExp(`"${member}":("(?:[^"\\\\]|\\\\.)*"|\\[.*?\\]|[^,}]+)`).exec(text)?.[1] ?? 'null';
    return `"${member}":${member === name ? value : own}`;
  });
  return `{${parts.join(',')}}`;
}

/** What may be wrong with a record. */
export const ROW_MUTATIONS: Readonly<Record<string, Mutation>> = {
  'a record that is none': row((_text, { random }) =>
    random.pick(['null', '"x"', '7', 'true', '[]', '[{"id":7}]', '""', '1e400', '{}']),
  ),
  'a record without id': row((text) => text.replace(/"id":\d+,/, '')),
  'a record with an odd id': row((text, { random }) => withId(random.pick(ODD_IDS))(text)),
  'every id odd': rows((all, { random }) => all.map(withId(random.pick(ODD_IDS)))),
  'an id as text': row((text) => text.replace(/"id":(\d+)/, '"id":"$1"')),
  'an id twice in a record': row((text, { random }) =>
    withMore(text, `"id":${random.pick(['7', 'null', '"x"', '424242'])}`),
  ),
  'id of another record': row((text, { random, elsewhere }) =>
    withId(/"id":(\d+)/.exec(random.pick(elsewhere))?.[1] ?? '7')(text),
  ),
  'ids of nobody': rows((all, { random }) =>
    all.map((text) => withId(String(random.integer(10_000, 900_000)))(text)),
  ),
  'id with other content twice': rows((all, { random }) => {
    const again = all.length === 0 ? [] : [random.pick(all)];
    return [...all, ...again.map((text) => text.replace(/"(?=,|\})/, '!"'))];
  }),
  'id with the same content twice': rows((all, { random }) =>
    all.length === 0 ? all : [...all, random.pick(all)],
  ),
  'a value that fits no column': row((text, scene) => swapped(text, scene, scene.random.pick(NASTY_TEXTS))),
  'every value of another type': row((text, { random }) =>
    text.replaceAll(/:("[^"]*"|\d[\d.]*)(?=,")/g, () => `:${random.pick(NASTY_TEXTS)}`),
  ),
  'a huge number': row((text, scene) =>
    swapped(text, scene, scene.random.pick(['1e400', '-1e999999', '9'.repeat(400), `0.${'1'.repeat(1200)}`])),
  ),
  'a very long text': row((text, scene) =>
    swapped(text, scene, JSON.stringify(scene.random.pick(['x', 'é', '"', '\u2028']).repeat(20_000))),
  ),
  'half a character': row((text, scene) =>
    swapped(text, scene, scene.random.pick(['"\\ud800"', '"x\\udfff"', '["\\ud83d"]'])),
  ),
  'NUL in a text': row((text, scene) =>
    swapped(text, scene, scene.random.pick(['"a\\u0000b"', '"\\u0000"', '{"a\\u0000":1}'])),
  ),
  'a key twice': row((text, scene) =>
    withMore(text, `${JSON.stringify(fieldOf(text, scene))}:${scene.random.pick(NASTY_TEXTS)}`),
  ),
  'a new field': row((text, { random }) =>
    withMore(text, `${JSON.stringify(random.pick(ODD_NAMES))}:${random.pick(NASTY_TEXTS)}`),
  ),
  'many new fields': row((text, { random }) => {
    // Four that come again and again, or, rarely, many: each new one costs a new column.
    const names = random.chance(0.02)
      ? Array.from({ length: 40 }, (_none, at) => `f${at}`)
      : [0, 1, 2, 3].map((at) => `f${at}`);
    return withMore(text, names.map((name) => `"${name}":${random.integer(0, 9)}`).join(','));
  }),
  'fields lost': row(
    (text, { random }) =>
      `{${text
        .slice(1, -1)
        .split(/,(?=")/)
        .filter((_part, at) => at === 0 || random.chance(0.5))
        .join(',')}}`,
  ),
  'all fields but the id lost': rows((all) => all.map((text) => `${text.slice(0, text.indexOf(','))}}`)),
  'nested deep in a record': row((text, { random }) =>
    withMore(text, `"deep":${nested(random.pick([60, 63, 64, 65, 200, 20_000]))}`),
  ),
  'a record in a record': row((text) => withMore(text, `"data":[${text}]`)),
  'another company': rows((all) =>
    all.map((text) => withMore(text.replace(/"system_id":\d+/, '"system_id":18'), '"x":1')),
  ),
  'keys in other order': row(
    (text) =>
      `{${text
        .slice(1, -1)
        .split(/,(?="[a-z_]+":)/)
        .reverse()
        .join(',')}}`,
  ),
};

/** Faults in the choice of records on a page. */
export const PAGE_MUTATIONS: Readonly<Record<string, Mutation>> = {
  'page empty': rows(() => []),
  'rows lost': rows((all, { random }) => all.filter(() => random.chance(0.6))),
  'a row lost': rows((all, { random }) => all.filter((_row, at) => at !== random.integer(0, 9))),
  'rows of another page': rows((all, { elsewhere, random }) =>
    all.map((text) => (random.chance(0.4) ? random.pick(elsewhere) : text)),
  ),
  'another page': rows((all, { elsewhere }) => elsewhere.slice(0, all.length)),
  'page longer than asked': rows((all, { elsewhere }) => [...all, ...elsewhere.slice(0, 5)]),
  'every row the same': rows((all) => all.map(() => all[0] ?? 'null')),
  'rows in other order': rows((all) => [...all].reverse()),
  'records of another kind': rows((all, { foreign }) => foreign.slice(0, all.length)),
  'a record of another kind': row((_text, { random, foreign }) => random.pick(foreign)),
  'page in a page': rows((all) => [`[${all.join(',')}]`]),
};
