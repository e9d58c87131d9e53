import type { Field, Kind } from '../../src/catalog/kind.ts';
import { hash } from '../../sandbox/generate/draw.ts';
import type { Content } from './records.ts';
import type { Personality } from './traits.ts';

type Storing = Pick<Personality, 'texts' | 'codes' | 'times' | 'amounts' | 'fields'>;

/** What a service makes of the fields that are written to it: names of a read, in its own forms. */
export function storedFields(kind: Kind, body: Content, storing: Storing): Content {
  const sent = Object.entries(body).map(([name, value]): [string, unknown] => {
    const field = fieldWritten(kind, name);
    return [field?.name ?? name, field ? storedValue(field, value, storing) : value];
  });
  const taken = sent.filter(([name]) => name !== 'id');
  const ignored = storing.fields === 'one ignored' && taken.length > 1 ? taken.at(-1)?.[0] : undefined;
  return Object.fromEntries(taken.filter(([name]) => name !== ignored));
}

/** What a new record has where nothing was sent. */
export function defaults(kind: Kind, { fields }: Storing): Content {
  if (fields !== 'defaults filled in') return {};
  const texts = kind.fields.filter(({ type, name }) => type === 'text' && !kind.naturalKey.includes(name));
  return Object.fromEntries(texts.slice(0, 2).map(({ name }) => [name, `${name} to be filled in`]));
}

/** A text for each field that may be written and identifies nothing. */
export const allTexts = ({ fields, naturalKey }: Kind): Content =>
  Object.fromEntries(
    fields
      .filter(({ type, name }) => type === 'text' && !naturalKey.includes(name))
      .map(({ name, write }) => [write?.name ?? name, `${name} once`]),
  );

function fieldWritten({ fields, hints }: Kind, name: string): Field | undefined {
  return [...fields, ...hints].find((field) => (field.write?.name ?? field.name) === name);
}

function storedValue(field: Field, value: unknown, storing: Storing): unknown {
  if (value === null || (typeof value !== 'string' && typeof value !== 'number')) return value;
  return STORED[field.type](String(value), field, storing);
}

type Store = (text: string, field: Field, storing: Storing) => unknown;

const asSent: Store = (text) => text;
const asNumber: Store = (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text);

const STORED: Readonly<Record<Field['type'], Store>> = {
  integer: asNumber,
  flag: asNumber,
  date: asSent,
  timestamp: asSent,
  json: asSent,
  text: (text, { name }, { texts, codes }) => (name === 'code' ? CODES[codes](text) : TEXTS[texts](text)),
  time: (text, _field, { times }) => TIMES[times](text.length === 5 ? `${text}:00` : text),
  decimal: (text, { scale = 2 }, { amounts }) => Number(text).toFixed(amounts === 'as sent' ? scale : 1),
};

const TEXTS: Readonly<Record<Personality['texts'], (text: string) => string>> = {
  'as sent': (text) => text,
  trimmed: (text) => text.trim().replace(/\s+/g, ' '),
  'upper case': (text) => text.toUpperCase(),
  'without accents': (text) => text.normalize('NFD').replace(/\p{M}/gu, ''),
  'cut at 12': (text) => text.slice(0, 12),
  prefixed: (text) => `M. ${text}`,
};

const CODES: Readonly<Record<Personality['codes'], (text: string) => string>> = {
  'as sent': (text) => text,
  padded: (text) => text.padStart(14, '0'),
  numbered: (text) => String(10_000 + (hash(text) % 90_000)),
  prefixed: (text) => `CL-${text}`,
  'cut at 8': (text) => text.slice(0, 8),
};

const TIMES: Readonly<Record<Personality['times'], (text: string) => string>> = {
  'as sent': (text) => text,
  'rounded to 15 minutes': (text) => {
    const [hours = '00', minutes = '00'] = text.split(':');
    return `${hours}:${String(Math.floor(Number(minutes) / 15) * 15).padStart(2, '0')}:00`;
  },
};
