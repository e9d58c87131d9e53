import { describeField, fieldLabel, kindLabel, MONEY } from '../../catalog/descriptions.ts';
import { findSentField, type Field } from '../../catalog/kind.ts';
import { decodeIfFits } from '../../diff/decode-record.ts';
import { plainJson, isArray, isObject, type Json, type JsonObject } from '../../lib/json/json.ts';
import { LOCALES, type MessageKey, type Translator } from '../../lib/text/translator.ts';
import { capitalize, truncate } from '../../lib/text/text.ts';
import { focusable, html, type Html } from '../../http/html.ts';
import { column, dataTable, panel, titled } from './layout.ts';
import type { Reader } from './reader.ts';

const DAY = { timeZone: 'UTC', dateStyle: 'medium' } as const;
const LONGEST_VALUE = 4_000;
const ITEMS_SHOWN = 200;

/** The groups of a record's fields, each by what its names contain; a field belongs to the first that fits. */
const GROUPS: readonly (readonly [title: MessageKey, pattern: RegExp])[] = [
  ['Contact', /phone|tel|cell|fax|mail|contact|website|url/],
  ['Address', /address|adresse|street|city|ville|province|state|postal|zip|country|pays/],
  ['Money', /price|prix|credit|balance|total|cost|amount|rate|tax|discount|currency|terms/],
  ['Identity', /^(?:id|code|nom|name|label|title|type)|_id$|name|code/],
];
const OTHER: MessageKey = 'Other';

/** Sorts the fields of a record into groups, in the order of a card, and separates empty fields. */
export function groupFields(record: JsonObject) {
  const isEmpty = (value: Json): boolean =>
    value === null || value === '' || (isArray(value) && value.length === 0);
  const fields = Object.entries(record);
  const filled = Map.groupBy(
    fields.filter(([, value]) => !isEmpty(value)),
    ([name]) => GROUPS.find(([, pattern]) => pattern.test(name))?.[0] ?? OTHER,
  );
  const order: readonly MessageKey[] = ['Identity', 'Contact', 'Address', 'Money', OTHER];
  const groups = order.flatMap((title) => {
    const entries = filled.get(title);
    return entries === undefined ? [] : [{ title, record: Object.fromEntries(entries) }];
  });
  return { groups, empty: Object.fromEntries(fields.filter(([, value]) => isEmpty(value))) };
}

/** A table of fields; one that holds a list leads to its panel. */
export function fieldsTable(caption: string, kind: string, record: JsonObject, reader: Reader): Html {
  const { t } = reader;
  const way = (name: string, items: number): Html =>
    html`<a href="#list-${name}">${t('{items, plural, one {# item} other {# items}}, below', { items })}</a>`;
  return dataTable(
    { caption, rows: Object.entries(record), layout: 'words' },
    column(t('field'), '', ([name]) => labelledField(reader, kind, name)),
    column(t('value'), '', ([name, value]) => {
      const { length } = itemsOf(value);
      return length === 0 ? fieldValue(reader, kind, name, value) : way(name, length);
    }),
  );
}

/** A record's lists, each as a table with a column for each field of its items. */
export const listPanels = (reader: Reader, kind: string, record: JsonObject): readonly Html[] =>
  Object.entries(record).flatMap(([name, value]) => {
    const items = itemsOf(value);
    if (items.length === 0) return [];
    const owner = `${kind}_${name}`;
    const members = [...new Set(items.flatMap((item) => Object.keys(item)))];
    const caption = reader.t('The list {name}', { name: fieldLabel(reader, kind, name) });
    const valueOf = (member: string, value: Json): Html | null =>
      value === '' ? null : fieldValue(reader, owner, member, value);
    const table = dataTable(
      { caption, rows: items.slice(0, ITEMS_SHOWN) },
      ...members.map((member) => ({
        ...column(fieldLabel(reader, owner, member), 'named', (item: JsonObject) =>
          valueOf(member, item[member] ?? ''),
        ),
        heading: labelledField(reader, owner, member),
      })),
    );
    const part = { shown: ITEMS_SHOWN, all: items.length };
    const note =
      items.length > ITEMS_SHOWN ? reader.t('the first {shown, number} of {all, number}', part) : null;
    const head = { id: `list-${name}`, title: labelledField(reader, kind, name), note, isLive: false };
    return [panel(head, html`<div class="scroll items" ${focusable(caption)}>${table}</div>`)];
  });

/** The objects of a list, or a single one; none for any other value. */
function itemsOf(value: Json): readonly JsonObject[] {
  const items = isArray(value) ? value : [value];
  return items.every(isObject) ? items : [];
}

export function fieldValue(reader: Reader, kind: string, name: string, value: Json): Html {
  if (value === null) return html`<span class="quiet">null</span>`;
  if (!isArray(value)) return verbatim(ellipsize(shownText(reader, kind, name, value), LONGEST_VALUE));
  return verbatim(ellipsize(value.map((item) => membersText(item)).join('\n'), LONGEST_VALUE));
}

/** A value as people write it: amounts and days in the language of the page, yes or no. What fits no rule stays as it was sent. */
export function shownText(reader: Reader, kind: string, name: string, value: Json = null): string {
  const shape = reader.shapes.find((each) => each.name === kind);
  const field = shape && findSentField(shape, name);
  const decoded = field && decodeIfFits(field, value);
  if (field === undefined || decoded === undefined || decoded === null) return membersText(value);
  return formatted(reader, kind, field, String(decoded)) ?? membersText(value);
}

function formatted(reader: Reader, kind: string, field: Field, text: string): string | null {
  if (field.type === 'date') return dayText(reader, text);
  if (field.type === 'flag') return text === '1' ? reader.t('yes') : text === '0' ? reader.t('no') : null;
  if (field.type !== 'decimal') return null;
  const isMoney = describeField(kind, field).unit === MONEY; // Written in dollars, as the service's companies do.
  const form = isMoney ? ({ style: 'currency', currency: 'CAD' } as const) : {};
  const places = Math.max(isMoney ? 2 : 0, placesOf(text));
  const digits = { minimumFractionDigits: places, maximumFractionDigits: 20 };
  return new Intl.NumberFormat(LOCALES[reader.language], { ...form, ...digits }).format(text as `${number}`);
}

/** A day as people write it: `14 mai 2020`. */
export const dayText = ({ language }: Translator, day: string): string =>
  new Date(day).toLocaleDateString(LOCALES[language], DAY);

/** How many decimals matter: `12.50` has one. */
export function placesOf(decimal: string): number {
  const [, fraction = ''] = decimal.split('.');
  return Array.from(fraction).findLastIndex((digit) => digit !== '0') + 1;
}

/** The label of a kind's field; the title has its technical name. */
export const labelledField = (translator: Translator, kind: string, name: string): Html =>
  html`<span class="field" title="${name}">${fieldLabel(translator, kind, name)}</span>`;

export const labelledKind = (translator: Translator, kind: string): Html =>
  titled(kind, kindLabel(translator, kind));

export const labelledKinds = (translator: Translator, kinds: readonly string[]): Html =>
  titled(kinds.join(', '), kinds.map((kind) => kindLabel(translator, kind)).join(', '));

export const kindHeading = (translator: Translator, kind: string): Html =>
  titled(kind, capitalize(kindLabel(translator, kind)));

export const valueAsText = (value: Json = null): string => (value === null ? '' : plainJson(value));

/** The members of an object as a line; any other value as `valueAsText` writes it. */
export function membersText(value: Json | undefined, labelOf: (name: string) => string = String): string {
  if (!isObject(value)) return valueAsText(value);
  const members = Object.entries(value).map(([name, member]) => `${labelOf(name)}: ${valueAsText(member)}`);
  return members.join(', ');
}

/** A text with its own spaces and line ends; the element must contain nothing else. */
export const verbatim = (text: string): Html => html`<span class="value">${text}</span>`;

/** The beginning of a text that is longer; an empty one is shown as such. */
export function ellipsize(text: string, longest: number): string {
  if (text === '') return '–';
  return text.length > longest ? `${truncate(text, longest)}…` : text;
}
