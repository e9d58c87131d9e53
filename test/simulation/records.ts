import type { ListedKind } from '../../src/catalog/kind.ts';
import { blankRecord } from '../../src/sandbox/generate/from-catalogue.ts';
import type { Random } from '../../src/sandbox/generate/draw.ts';

/** One value of a record: how it is written, and what it means. */
export interface Cell {
  /** As it stands in the JSON. */
  readonly token: string;
  /** Equal for equal values, however they are spelled. */
  readonly value: string;
  /** What the mirror's column must hold, as text; undefined where nobody looks. */
  readonly column?: string | null;
}

/** A record's content, by field, in the order in which it is written. */
export type Content = ReadonlyMap<string, Cell>;

export interface RecordSeed {
  readonly id: string;
  /** Counts the contents that the record has had: no two of its contents are the same by chance. */
  readonly version: number;
  /** What the list may be sorted by. */
  readonly key: string;
}

/** The fields that the simulation fills in, by kind: one that sorts, some that change. */
interface Shape {
  readonly key?: string;
  readonly text: string;
  readonly decimal?: { readonly name: string; readonly scale: number };
  readonly date?: string;
}

const SHAPES: Readonly<Record<string, Shape>> = {
  clients: {
    key: 'code',
    text: 'name',
    decimal: { name: 'credit', scale: 2 },
    date: 'creation_date',
  },
  departments: { text: 'name' },
  punches: { text: 'note', decimal: { name: 'ptotal', scale: 2 }, date: 'date' },
  purchase_products: { text: 'product_name', decimal: { name: 'product_price', scale: 4 } },
};

const SYSTEM = 41;

/** The columns that the checkers compare with the truth. */
export function watchedColumns({ name }: ListedKind): string[] {
  if (!(name in SHAPES)) return [];
  const { text, decimal, date } = shapeOf(name);
  return [text, ...(decimal ? [decimal.name] : []), ...(date === undefined ? [] : [date])];
}

export function firstContent(kind: ListedKind, seed: RecordSeed, random: Random): Content {
  const blank = Object.entries(blankRecord(kind, SYSTEM)).map(([name, value]): [string, Cell] => [
    name,
    plain(JSON.stringify(value)),
  ]);
  return edited(kind, new Map([...blank, ['id', plain(seed.id)]]), { seed, random });
}

/** The same record with another content. */
export function edited(
  { name }: ListedKind,
  before: Content,
  { seed: { key, version }, random }: { readonly seed: RecordSeed; readonly random: Random },
): Content {
  const shape = shapeOf(name);
  const content = new Map(before);
  if (shape.key !== undefined) content.set(shape.key, text(key));
  content.set(shape.text, text(`Émilie « v${version} » ${random.digits(3)}`));
  const isFirst = version === 1;
  const { decimal: money, date: day } = shape;
  if (money && (isFirst || random.chance(0.5))) content.set(money.name, decimal(money.scale, random));
  if (day !== undefined && (isFirst || random.chance(0.3))) content.set(day, date(random));
  return content;
}

/** The same values in another spelling: no change to anybody who reads them. */
export function respelled(kind: ListedKind, before: Content, random: Random): Content {
  const { decimal: field } = shapeOf(kind.name);
  const cell = field && before.get(field.name);
  const turned = [...before];
  if (cell === undefined || field === undefined || random.chance(0.5)) turned.push(...turned.splice(1, 1));
  const content = new Map(turned);
  if (cell !== undefined && field !== undefined) {
    content.set(field.name, { ...cell, token: respelledDecimal(cell.token) });
  }
  return content;
}

/** A record as the service writes it. */
export function textOf(content: Content): string {
  return `{${[...content].map(([name, { token }]) => `${JSON.stringify(name)}:${token}`).join(',')}}`;
}

/** Names the fields in which two contents differ. */
export function differing(before: Content, after: Content): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name)?.value !== after.get(name)?.value);
}

function shapeOf(kind: string): Shape {
  const shape = SHAPES[kind];
  if (!shape) throw new TypeError(`The simulation has no shape for ${kind}.`);
  return shape;
}

const plain = (token: string): Cell => ({ token, value: token });

function text(value: string): Cell {
  return { token: JSON.stringify(value), value, column: value };
}

/** Money as text and as a number, short and longer than a float holds. */
function decimal(scale: number, random: Random): Cell {
  const whole = random.chance(0.2) ? `9007199254740${random.digits(4)}` : String(random.integer(1, 9999));
  const value = `${whole}.${random.digits(scale)}`;
  return { token: random.chance(0.5) ? `"${value}"` : value, value, column: value };
}

const respelledDecimal = (token: string): string =>
  token.startsWith('"') ? token.slice(1, -1) : `"${token}"`;

/** Days, days that are none, and the two ways of saying "no date". */
function date(random: Random): Cell {
  const day = random.pick(['2025-02-28', '2024-02-29', '2026-01-31', '2025-02-30', '0000-00-00', '']);
  const isDay = day !== '2025-02-30' && day !== '0000-00-00' && day !== '';
  return {
    token: `"${day}"`,
    value: day === '' || day === '0000-00-00' ? 'none' : day,
    column: isDay ? day : null,
  };
}
