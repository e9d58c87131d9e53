import type { ListedKind } from '../../src/catalog/kind.ts';
import { hash } from '../../sandbox/generate/draw.ts';
import type { Content, Row } from './records.ts';
import type { Personality } from './traits.ts';

/** Fields that change at each look, where one does; none of them is written or of a natural key. */
export const VOLATILE: Readonly<Record<string, string>> = {
  clients: 'website',
  projects: 'code',
  categories: 'name_en',
  products: 'name_en',
  purchase_products: 'product_serialnumber',
};

type Spelling = Pick<Personality, 'volatile' | 'spelling' | 'blanks'>;

/** A record as a list shows it. @param look How often it was looked at before. */
export function listedRow(row: Row, kind: ListedKind, personality: Spelling, look: number): Row {
  const { volatile, spelling, blanks } = personality;
  if (blanks === 'left out' || blanks === 'left out of lists') return withContent(row, filled(row.content));
  if (volatile === 'none' && spelling === 'alike') return row;
  const isAtTimes = hash(`${row.id}/${look}`) % 2 === 0;
  const spelled = Object.entries(row.content).map(([name, value]): [string, unknown] => [
    name,
    typeof value === 'string'
      ? spelledText({ value, isDecimal: isDecimal(kind, name), isAtTimes }, spelling)
      : value,
  ]);
  return withContent(row, { ...Object.fromEntries(spelled), ...volatileOf(kind, volatile, look) });
}

/** A record as it answers alone. */
export function singleRow(row: Row, kind: ListedKind, { volatile, blanks }: Spelling, look: number): Row {
  if (blanks === 'left out' || blanks === 'left out of records') return withContent(row, filled(row.content));
  return volatile === 'none'
    ? row
    : withContent(row, { ...row.content, ...volatileOf(kind, volatile, look) });
}

/** The fields that are not blank. */
const filled = (content: Content): Content =>
  Object.fromEntries(
    Object.entries(content).filter(([, value]) => !['""', 'null', '[]'].includes(JSON.stringify(value))),
  );

function withContent(row: Row, content: Content): Row {
  return { ...row, text: JSON.stringify(content) };
}

function volatileOf({ name }: ListedKind, volatile: Personality['volatile'], look: number): Content {
  const field = VOLATILE[name];
  return field === undefined || volatile === 'none' ? {} : { [field]: `https://files/${look}` };
}

const isDecimal = ({ fields }: ListedKind, name: string): boolean =>
  fields.some((field) => field.name === name && field.type === 'decimal');

interface Spelled {
  readonly value: string;
  readonly isDecimal: boolean;
  readonly isAtTimes: boolean;
}

function spelledText(
  { value, isDecimal: isAmount, isAtTimes }: Spelled,
  spelling: Personality['spelling'],
): string {
  if (value === '' || /^\d{4}-|^\d\d:/.test(value)) return value;
  if (isAmount)
    return spelling === 'noise at times' && isAtTimes ? `${value}${NOISE.slice(value.length)}1` : value;
  return SPELT[spelling](value, isAtTimes);
}

/** So many places that a float has made them. */
const NOISE = '0'.repeat(16);

const SPELT: Readonly<Record<Personality['spelling'], (text: string, isAtTimes: boolean) => string>> = {
  alike: (text) => text,
  'HTML in lists': (text) => text.replaceAll('&', '&amp;').replaceAll("'", '&#039;'),
  'blanks in lists': (text) => `${text} `,
  'noise at times': (text) => text,
  'NFD at times': (text, isAtTimes) => text.normalize(isAtTimes ? 'NFD' : 'NFC'),
};

/** A record's text without what a service spells now so and now so: equal for what is the same. */
export function plainText(text: string, kind: string, { volatile, spelling, blanks }: Spelling): string {
  if (blanks !== 'shown') {
    const shown = Object.entries(filled(JSON.parse(text) as Content));
    return JSON.stringify(Object.fromEntries(shown.sort(([a], [b]) => (a < b ? -1 : 1)))); // Our own writes add them at the end.
  }
  if (volatile === 'none' && spelling === 'alike') return text;
  const content = JSON.parse(text) as Content;
  const field = volatile === 'none' ? undefined : VOLATILE[kind];
  const plain = Object.entries(content)
    .filter(([name]) => name !== field)
    .map(([name, value]) => [name, typeof value === 'string' ? plainValue(value, spelling) : value]);
  return JSON.stringify(Object.fromEntries(plain));
}

function plainValue(value: string, spelling: Personality['spelling']): string {
  if (spelling === 'noise at times') return /^-?\d+\.\d+$/.test(value) ? Number(value).toFixed(6) : value;
  return value.replaceAll('&#039;', "'").replaceAll('&amp;', '&').replace(/ $/, '').normalize('NFC');
}
