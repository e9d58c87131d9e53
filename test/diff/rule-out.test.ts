import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { findSentField, type Kind } from '../../src/catalog/kind.ts';
import { isRuledOut, longTexts, canComeFrom } from '../../src/diff/rule-out.ts';
import { isNumber, parseJson, type Json, type JsonObject } from '../../src/lib/json/json.ts';
import { asShown, namedKind, writes } from '../support/written-payloads.ts';
import { tries } from '../support/tiers.ts';

const CLIENTS = namedKind('clients');
const PUNCHES = namedKind('punches');
const BRANDS = namedKind('vehicle_brands');
const PROJECTS = namedKind('projects');
const LINES = namedKind('purchase_products');

/** Judges a record whose long texts are all distinctive. */
function isOut(kind: Kind, payload: JsonObject, record: JsonObject): boolean {
  return isRuledOut({ kind, payload, distinctive: longTexts(kind, payload), record });
}

const parse = (text: string) => parseJson(text) as JsonObject;

test('texts of four characters and more can tell a record', () => {
  const payload = {
    code: 'C-1',
    name: 'Ada',
    city: 'Hull',
    address2: 'A b c d',
    credit: '1000.00',
    term: 3000,
  };
  expect(longTexts(CLIENTS, payload)).toEqual([
    { field: 'city', text: 'Hull' },
    { field: 'adresse2', text: 'A b c d' },
  ]);
});

describe('a record is ruled out', () => {
  test.each([
    ['user_id', '5', '6'],
    ['date', '"2026-01-05"', '"2026-01-06"'],
    ['start_time', '"08:00"', '"09:01:00"'],
    ['start_time', '"23:30"', '"00:31:00"'],
  ])('by another %s: %s, shown as %s', (field, sent, shown) => {
    expect(isOut(PUNCHES, parse(`{"${field}":${sent}}`), parse(`{"${field}":${shown}}`))).toBe(true);
  });

  test('by another product of a purchase line, where both are numbers', () => {
    expect(isOut(LINES, { product_id: '12' }, { product_id: 13 })).toBe(true);
    expect(isOut(LINES, { product_id: 'P-12' }, { product_id: 13 })).toBe(false);
  });

  test.each([
    ['another code', 'ZZ-0001', 'ZZ-0002'],
    ['another name', 'Garage Lévesque', 'Garage du Nord'],
    ['other foreign letters', '中文中文', '日本日本'],
  ])('by %s, where it is the only telling text', (_what, sent, shown) => {
    expect(isOut(BRANDS, { name: sent }, { id: 7, name: shown })).toBe(true);
  });

  test('where it shows none of the telling texts', () => {
    const payload = { code: 'ZZ-0001', name: 'Zoé Tremblay' };
    expect(isOut(CLIENTS, payload, { code: 'ZZ-0002', name: 'Ada' })).toBe(true);
    expect(isOut(CLIENTS, payload, { code: 'ZZ-0002', name: 'Zoé Tremblay' })).toBe(false);
    expect(isOut(CLIENTS, payload, { code: 'ZZ-0001', name: 'Ada' })).toBe(false);
  });
});

describe('a record stays in doubt', () => {
  test.each([
    ['a time that was rounded', 'start_time', '"08:07"', '"08:00:00"'],
    ['a time that was rounded by an hour', 'start_time', '"08:07"', '"09:07:00"'],
    ['a time beyond midnight', 'start_time', '"23:58"', '"00:00:00"'],
    ['a date in another form', 'date', '"2026-01-05"', '"2026-01-05 00:00:00"'],
    ['a date that was dropped', 'date', '"2026-01-05"', '"0000-00-00"'],
    ['a link that was dropped', 'user_id', '5', '0'],
    ['a total that was rounded', 'ptotal', '"7.25"', '8'],
    ['a field that it does not show', 'user_id', '5', 'null'],
  ])('by %s', (_what, field, sent, shown) => {
    expect(isOut(PUNCHES, parse(`{"${field}":${sent}}`), parse(`{"${field}":${shown}}`))).toBe(false);
  });

  const LONG = 'Les Constructions Québec & Fils inc. de Saint-Jean';
  test.each([
    ['case', 'Ab-10', 'AB-10'],
    ['blanks', ' Abc  d ', 'Abc d'],
    ['a number before it', 'C-100', '0042-C-100'],
    ['a number behind it', 'C-100', 'C-100-1'],
    ['lost leading zeros', '000017', '17'],
    ['decomposed accents', 'Québec', 'Que\u0301bec'],
    ['lost accents', 'Québec', 'Quebec'],
    ['capitals with accents', 'œuvre été', 'OEUVRE ÉTÉ'],
    ['HTML', `<Abc> & "b" 'c'`, '&lt;Abc&gt; &amp; &quot;b&quot; &#039;c&#039;'],
    ['HTML, twice', "L'Étoile & fils", 'L&amp;#039;Étoile &amp;amp; fils'],
    ['HTML names', 'Été à la forêt', '&Eacute;t&eacute; &agrave; la for&ecirc;t'],
    ['slashes', "O'Brien", "O\\'Brien"],
    ['question marks', 'Québec 🍁', 'Qu?bec ????'],
    ['replacement characters', 'Québec', 'Qu\ufffdbec'],
    ['the wrong encoding', 'Québec', 'QuÃ©bec'],
    ['question marks alone', '中文中文', '????'],
    ['a cut', LONG, LONG.slice(0, 10)],
    ['a cut through an entity', 'Aaaaaaaa & b', 'Aaaaaaaa &a'],
    ['nothing at all', 'Québec', ''],
  ])('by a text that was changed by %s', (_what, sent, shown) => {
    expect(isOut(BRANDS, { name: sent }, { id: 7, name: shown })).toBe(false);
    expect(isOut(PROJECTS, { name: sent }, { id: 7, nom: shown })).toBe(false);
  });

  test('where the text is in another field, or deeper', () => {
    const payload = { name: 'Zoé Tremblay' };
    expect(isOut(CLIENTS, payload, { name: 'Client 17', address: 'c/o ZOE TREMBLAY' })).toBe(false);
    expect(isOut(CLIENTS, payload, { name: 'Client 17', contacts: [{ nom: 'Tremblay' }] })).toBe(false);
    expect(isOut(CLIENTS, payload, { name: 'Client 17', state: 'Z' })).toBe(true);
  });

  test('with the natural key, whatever people have made of the rest since', () => {
    const payload = { code: 'C-1', name: 'Zoé Tremblay' };
    expect(isOut(CLIENTS, payload, { code: 'C-1', name: 'Ada' })).toBe(false);
    const punch = { user_id: 5, date: '2026-01-05', start_time: '08:07', end_time: '17:00' };
    expect(isOut(PUNCHES, punch, { ...punch, start_time: '08:00:00', end_time: '12:00:00' })).toBe(false);
  });

  test('without a telling text', () => {
    const record = { code: 'other', name: 'Bob' };
    expect(isOut(CLIENTS, { code: 'C-1', name: 'Ada' }, record)).toBe(false);
    const payload = { code: 'ZZ-0001', name: 'Zoé Tremblay' };
    expect(isRuledOut({ kind: CLIENTS, payload, distinctive: [], record })).toBe(false);
  });
});

describe('the value of a field that was just written', () => {
  const isLike = (kind: Kind, field: string, sent: Json, remote: Json): boolean =>
    canComeFrom(findSentField(kind, field), sent, remote);

  test.each<[string, Json, Json]>([
    ['name', 'Zoé', 'ZOE'],
    ['name', 'Zoé Tremblay', 'Zoé T'],
    ['credit', '10.005', '10.01'],
    ['credit', '10.005', 10],
    ['unknown', 'Abc', 'abc'],
  ])('may have been made of the sent one: %s %s as %s', (field, sent, shown) => {
    expect(isLike(CLIENTS, field, sent, shown)).toBe(true);
  });

  test.each<[string, Json, Json]>([
    ['name', 'Zoé', 'Ada'],
    ['name', 'Zoé', null],
    ['credit', '10', '11'],
    ['term', 30, 31],
    ['creation_date', '2026-01-05', '2026-01-06'],
  ])('was not made of it: %s %s as %s', (field, sent, shown) => {
    expect(isLike(CLIENTS, field, sent, shown)).toBe(false);
  });

  test('a time may be rounded, but not to an odd minute, unless it was moved by an hour', () => {
    for (const rounded of ['00:45', '00:30:00', '01:00', '00:42', '01:40', '23:40'])
      expect(isLike(PUNCHES, 'end_time', '00:40', rounded)).toBe(true);
    for (const another of ['00:47', '00:41:00', '02:00', ''])
      expect(isLike(PUNCHES, 'end_time', '00:40', another)).toBe(false);
  });
});

type Loosening = (text: string) => string;
const LOOSENINGS: Record<string, Loosening> = {
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  trimmed: (text) => text.trim(),
  padded: (text) => ` ${text}  `,
  respaced: (text) => text.replace(/\s+/g, ' '),
  decomposed: (text) => text.normalize('NFD'),
  composed: (text) => text.normalize('NFC'),
  unaccented: (text) => text.normalize('NFD').replace(/\p{M}/gu, ''),
  escaped: (text) =>
    text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0).toString().padStart(3, '0')};`),
  named: (text) =>
    text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;'),
  cut: (text) => text.slice(0, 30),
};

/** Loosens every text, and rounds every number, of a record that would match. */
function loosened(kind: Kind, record: JsonObject, loosenings: readonly string[]): JsonObject {
  const entries = Object.entries(record).map(([name, value]): [string, Json] => {
    const type = findSentField(kind, name)?.type;
    if (isNumber(value) || (type === 'decimal' && typeof value === 'string'))
      return [name, roundedUp(String(value))];
    const isText = type === undefined || type === 'text';
    if (typeof value !== 'string' || !isText || /^-?[\d.]+$/.test(value)) return [name, value];
    return [name, loosenings.reduce((text, loosening) => LOOSENINGS[loosening]?.(text) ?? text, value)];
  });
  return Object.fromEntries(entries);
}

/** Half of all digits behind the point, the last of them one up. */
function roundedUp(number: string): Json {
  const [whole = '', places = ''] = number.split('.');
  const kept = Math.floor(places.length / 2);
  if (places === '') return new LosslessNumber(number);
  const units =
    BigInt(whole.replace('-', '') + places.slice(0, kept)) + (/[1-9]/.test(places.slice(kept)) ? 1n : 0n);
  const digits = String(units).padStart(kept + 1, '0');
  const text = kept === 0 ? digits : `${digits.slice(0, -kept)}.${digits.slice(-kept)}`;
  return new LosslessNumber(`${number.startsWith('-') ? '-' : ''}${text}`);
}

test('C15: what a service may make of a text never rules a record of ours out', () => {
  const some = fc.array(fc.constantFrom(...Object.keys(LOOSENINGS)), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(writes, some, ({ kind, payload }, loosenings) => {
      const record = loosened(kind, asShown(kind, payload), loosenings);
      expect(isOut(kind, payload, record)).toBe(false);
    }),
    { numRuns: tries(2000) },
  );
});

test('hostile text costs no more than its length: the square of it would not end', () => {
  for (const piece of [
    '&amp;',
    '&#38;',
    '&',
    ' ',
    '\\',
    '1',
    '&#x',
    '&#9999999;',
    'e\u0301',
    '?',
    '🍁',
    '<',
  ]) {
    const text = piece.repeat(300_000);
    isOut(CLIENTS, { code: `K${text}` }, { code: `${text}K` });
  }
});
