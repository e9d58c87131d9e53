import { bodyText, dataText, withMember, withText, type Draft, type Mutation } from '../draft.ts';

const data =
  (write: (honest: string, draft: Draft) => string): Mutation =>
  (draft) =>
    withMember(draft, 'data', write(dataText(draft), draft));

const oneOf =
  (name: string, texts: readonly string[]): Mutation =>
  (draft, { random }) =>
    withMember(draft, name, random.pick(texts));

const twice =
  (first: (draft: Draft) => string, last: (draft: Draft) => string): Mutation =>
  (draft) => ({
    ...draft,
    members: [
      ['data', first(draft)],
      ...draft.members.filter(([name]) => name !== 'data'),
      ['data', last(draft)],
    ],
  });

export const nested = (levels: number, inner = '1'): string =>
  '['.repeat(levels) + inner + ']'.repeat(levels);

// prettier-ignore
const NUMBERS = [
  '0', '-1', '1', '2', '3', '4', '17', '1.5', '1e2', '1e15', '999999999999999', '9007199254740993', '1e308',
  '1e999', '-0',
];
const ODD = [...NUMBERS, 'null', '"2"', '"x"', '""', 'true', '[]', '{}', '"1e3"', '" 3 "'];

const metaNumbers =
  (choices: readonly string[]): Mutation =>
  (draft, { random }) => {
    const parts = ['current_page', 'last_page', 'per_page', 'total'].map((name) => {
      const own = draft.members.find(([member]) => member === 'meta')?.[1] ?? '{}';
      const honest = (JSON.parse(own) as Record<string, number>)[name];
      const text = random.chance(0.5) && honest !== undefined ? String(honest) : random.pick(choices);
      return random.chance(0.1) ? '' : `"${name}":${text}`;
    });
    return withMember(draft, 'meta', `{${parts.filter(Boolean).join(',')}}`);
  };

/** What may be wrong with what the records are wrapped in. */
export const ENVELOPE_MUTATIONS: Readonly<Record<string, Mutation>> = {
  'data null': data(() => 'null'),
  'data an object': data((_honest, { rows }) => rows[0] ?? '{}'),
  'data keyed by number': data(
    (_honest, { rows }) => `{${rows.map((row, index) => `"${index}":${row}`).join(',')}}`,
  ),
  'data a string': data((honest) => JSON.stringify(honest)),
  'data a number or a word': oneOf('data', ['0', '1', 'true', 'false', '""', '1e400']),
  'data empty': oneOf('data', ['[]', '{}', '[[]]', '[null]', '[{}]']),
  'data nested': data((honest) => `{"data":${honest}}`),
  'data an array of arrays': data((honest) => `[${honest}]`),
  'data twice, the last one empty': twice(dataText, () => '[]'),
  'data twice, the last one null': twice(dataText, () => 'null'),
  'data twice, the last one true': twice(() => '[]', dataText),
  'data twice, halves': twice(
    (draft) => `[${draft.rows.slice(0, 4).join(',')}]`,
    (draft) => `[${draft.rows.slice(4).join(',')}]`,
  ),
  'data missing': (draft) => ({ ...draft, members: draft.members.filter(([name]) => name !== 'data') }),
  'data under another name': (draft, { random }) => ({
    ...draft,
    members: draft.members.map(([name, text]) =>
      name === 'data' ? [random.pick(['Data', 'items', 'd\u0430ta', 'data ']), text] : [name, text],
    ),
  }),
  'name of data escaped': (draft) => withText(draft, bodyText(draft).replace('"data"', '"d\\u0061ta"')),
  'records bare': (draft) => withText(draft, dataText(draft)),
  'body in an array': (draft) => withText(draft, `[${bodyText(draft)}]`),
  'body in a string': (draft) => withText(draft, JSON.stringify(bodyText(draft))),
  'body some other JSON': (draft, { random }) =>
    withText(
      draft,
      random.pick(
        // prettier-ignore
        [
          'null', 'true', '0', '""', '"ok"', '{}', '[]', '[[]]', '{"error":"x"}', '1e999', '[1,2,3]',
        ],
      ),
    ),
  'success false': oneOf('success', ['false']),
  'success false in other words': oneOf('success', [
    '"false"',
    '0',
    '"0"',
    'null',
    '""',
    '[]',
    '"no"',
    '{"success":false}',
  ]),
  'success twice': (draft) => ({ ...draft, members: [...draft.members, ['success', 'false']] }),
  'an error beside the data': oneOf('error', ['"Internal error"', '{"code":500}', 'true', '[]']),
  'meta no object': oneOf('meta', ['null', '[]', '[1]', '"x"', '0', 'true', '[{"total":1}]']),
  'meta empty': oneOf('meta', ['{}', '{"links":[]}', '{"meta":{"total":3}}']),
  'meta of wrong types': metaNumbers(ODD),
  'meta with lying numbers': metaNumbers(NUMBERS),
  'meta with a huge last page': oneOf('meta', [
    '{"last_page":999999999999999}',
    '{"total":999999999999999}',
    '{"last_page":40,"total":900}',
  ]),
  'meta of the prototype': oneOf('meta', [
    '{"__proto__":{"total":0,"last_page":1}}',
    '{"constructor":1,"toString":null}',
  ]),
  'prototype keys': (draft, { random }) =>
    withMember(
      draft,
      random.pick(['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toJSON']),
      random.pick(['{"data":[],"success":false}', 'null', '{"polluted":true}']),
    ),
  'odd keys beside the data': (draft, { random }) =>
    withMember(draft, random.pick(['', '\u0000', '\ud800', 'data\u0000', ' ', 'x'.repeat(5000)]), '1'),
  'nested deep beside the data': (draft, { random }) =>
    withMember(
      draft,
      random.pick(['links', 'meta', 'success', 'data']),
      nested(random.pick([70, 1000, 20_000])),
    ),
  'token beside the data': (draft, { token }) =>
    withMember(draft, 'debug', JSON.stringify({ authorization: `Bearer ${token}` })),
};
