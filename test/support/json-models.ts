import fc from 'fast-check';
import { isArray, isNumber, isObject, type Json } from '../../src/lib/json/json.ts';
import { exactValue } from './exact.ts';

/** A JSON value as it was composed: numbers are their tokens, members a list. What a parser reads must be this. */
export type Model =
  | { readonly number: string }
  | { readonly string: string }
  | { readonly word: boolean | null }
  | { readonly array: readonly Model[] }
  | { readonly object: readonly Member[] };
export type Member = readonly [name: string, value: Model];

const digits = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...Array.from('0123456789')), minLength: 1, maxLength });

/** Tokens of JSON's number grammar, up to 30 digits on each side of the point. */
export const numberTokens = fc
  .record({
    sign: fc.constantFrom('', '', '-'),
    whole: fc.oneof(
      fc.constant('0'),
      digits(30).map((text) => text.replace(/^0+(?=\d)/, '')),
    ),
    fraction: fc.oneof(
      fc.constant(''),
      digits(30).map((text) => `.${text}`),
    ),
    exponent: fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.integer({ min: 0, max: 300 }))
          .map((parts) => parts.join('')),
      },
    ),
  })
  .map(({ sign, whole, fraction, exponent }) => sign + whole + fraction + exponent);

// prettier-ignore
export const NASTY_NUMBERS = [
  '-0', '0', '-0.0', '1e2', '100', '100.00', '9007199254740993', '9223372036854775807',
  '9223372036854775808', '0.1', '0.30000000000000004', '123456789012345', '1234567890123456', '1E400',
  '12345678901234567890.123456789',
];
// prettier-ignore
export const NASTY_STRINGS = [
  '', '[1.5,-0,1234567890123456789]', '":1e5,"', '\\', '"', '\u0000\n\t\u007f', 'Québec 🍁', '\ud800',
  '__proto__', '9007199254740993',
];
export const NASTY_NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'toJSON', '1', 'a', ''];

export const models: fc.Arbitrary<Model> = fc.letrec<{ value: Model }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(numberTokens, fc.constantFrom(...NASTY_NUMBERS)).map((number) => ({ number })),
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...NASTY_STRINGS)).map((string) => ({ string })),
    fc.constantFrom(true, false, null).map((word) => ({ word })),
    fc.array(tie('value'), { maxLength: 5 }).map((array) => ({ array })),
    membersOf(tie('value')).map((object) => ({ object })),
  ),
})).value;

export const records = membersOf(models).map((object) => ({ object }));

/** A value and its JSON text, spelled with random spaces and escapes. */
export const spelled = fc
  .tuple(
    fc.oneof(
      records,
      fc.array(models, { maxLength: 5 }).map((array) => ({ array })),
    ),
    fc.infiniteStream(fc.nat(3)),
  )
  .map(([model, choices]) => ({ model, text: spell(model, () => choices.next().value as number) }));

function membersOf(values: fc.Arbitrary<Model>) {
  const names = fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom(...NASTY_NAMES));
  return fc.uniqueArray(fc.tuple(names, values), { maxLength: 5, selector: ([name]) => name });
}

/** Writes a model as JSON text; `choose` picks one of four spellings wherever JSON leaves a choice. */
export function spell(model: Model, choose: () => number = () => 0): string {
  const gap = () => ['', '', ' ', '\r\n\t'][choose()] ?? '';
  if ('number' in model) return model.number;
  if ('word' in model) return String(model.word);
  if ('string' in model) return quote(model.string, choose);
  const list =
    'array' in model
      ? model.array.map((value) => gap() + spell(value, choose) + gap())
      : model.object.map(
          ([name, value]) => `${gap()}${quote(name, choose)}${gap()}:${gap()}${spell(value, choose)}${gap()}`,
        );
  return 'array' in model ? `[${gap()}${list.join(',')}]` : `{${gap()}${list.join(',')}}`;
}

function quote(text: string, choose: () => number): string {
  const characters = text.split('').map((character) => {
    const escaped = `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    return choose() === 3 ? escaped : JSON.stringify(character).slice(1, -1);
  });
  return `"${characters.join('')}"`;
}

/** What a parser made of a text, as a model with its members sorted; a number as the token it would be written with. */
export function modelOf(value: Json): Model {
  if (isNumber(value)) return { number: String(value) };
  if (typeof value === 'string') return { string: value };
  if (isArray(value)) return { array: value.map(modelOf) };
  if (isObject(value))
    return sorted({ object: Object.entries(value).map(([name, member]) => [name, modelOf(member)]) });
  return { word: value };
}

/** The same value with the members in one order. */
export function sorted(model: Model): Model {
  if ('array' in model) return { array: model.array.map(sorted) };
  if (!('object' in model)) return model;
  const members = model.object.map(([name, value]): Member => [name, sorted(value)]);
  return { object: members.sort(([a], [b]) => (a < b ? -1 : 1)) };
}

/** A text that is equal for equal values: how we know what `canonicalJson` must find equal. */
export function meaning(model: Model): string {
  return JSON.stringify(sorted(model), (key, value: unknown) =>
    key === 'number' && typeof value === 'string' ? exactValue(value) : value,
  );
}

/** The same value said otherwise: members turned around, numbers with other zeros and exponents. */
export function respelled(model: Model): Model {
  if ('number' in model) return { number: otherToken(model.number) };
  if ('array' in model) return { array: model.array.map(respelled) };
  if (!('object' in model)) return model;
  return { object: model.object.map(([name, value]): Member => [name, respelled(value)]).reverse() };
}

function otherToken(token: string): string {
  if (/[eE]/.test(token)) return token.replace(/^(-?\d+)([eE])/, '$1.00$2');
  return token.includes('.') ? `${token}00` : `${token}.0e+0`;
}
