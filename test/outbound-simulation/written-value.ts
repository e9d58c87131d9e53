import type { Field, Kind } from '../../src/catalog/kind.ts';
import { isNumber } from '../../src/lib/json/json.ts';
import type { Json, JsonObject } from '../../src/lib/json/json.ts';
import type { Cell, Content } from '../simulation/records.ts';

/** What the service makes of the texts that are written to it. */
export type Normalizer = (typeof NORMALIZERS)[number];

export const NORMALIZERS = ['none', 'trim', 'upper', 'cut', 'escape', 'round'] as const;

const TEXTS: Readonly<Record<Normalizer, (text: string) => string>> = {
  none: (text) => text,
  trim: (text) => text.trim().replace(/\s+/g, ' '),
  upper: (text) => text.toUpperCase(),
  cut: (text) => text.slice(0, 22),
  escape: (text) => text.replaceAll('&', '&amp;').replaceAll("'", '&#039;'),
  round: (text) => text,
};

/** Fields as the service stores them, by their names of a read. */
export function storedFields(kind: Kind, body: JsonObject, normalizer: Normalizer): Map<string, Cell> {
  return new Map(
    Object.entries(body).map(([name, value]) => {
      const field = fieldWritten(kind, name);
      return [field?.name ?? name, cellOf(storedValue(field, value, normalizer))];
    }),
  );
}

function fieldWritten({ fields }: Kind, name: string): Field | undefined {
  return fields.find((field) => (field.write?.name ?? field.name) === name);
}

function storedValue(field: Field | undefined, value: Json, normalizer: Normalizer): Json {
  if (value === null) return null;
  const text = isNumber(value) || typeof value === 'string' ? String(value) : JSON.stringify(value);
  const stored = field && STORED[field.type];
  return stored
    ? stored(text, { scale: normalizer === 'round' ? 1 : (field.scale ?? 2) })
    : TEXTS[normalizer](text);
}

/** The forms of what is no text. */
const STORED: Partial<Record<Field['type'], (text: string, places: { readonly scale: number }) => Json>> = {
  integer: (text) => Number(text),
  flag: (text) => Number(text),
  decimal: (text, { scale }) => Number(text).toFixed(scale),
  time: (text) => (text.length === 'HH:MM'.length ? `${text}:00` : text),
  date: (text) => text,
};

/** The service writes each value in one way only, so its token is all there is to it. */
export function cellOf(value: Json): Cell {
  const token = JSON.stringify(value);
  return { token, value: token };
}

export function withCells(content: Content, cells: ReadonlyMap<string, Cell>): Content {
  return new Map([...content, ...cells]);
}

/** Whether a content shows what was written, as this service stores it. */
export function holds(
  kind: Kind,
  content: Content,
  { body, normalizer }: { readonly body: JsonObject; readonly normalizer: Normalizer },
): boolean {
  return [...storedFields(kind, body, normalizer)].every(
    ([name, { value }]) => content.get(name)?.value === value,
  );
}
