import type { Field, FieldType, Kind } from '../../src/catalog/kind.ts';
import type { Json, JsonObject } from '../../src/lib/json/json.ts';
import { NOTES } from './vocabulary.ts';
import { pickupDate } from './work.ts';
import { anyId, type Draw, type Generate } from './draw.ts';
import { DAYS_OPEN, LAST_DAY, NO_DATE, datesUntil, dayOf, fixed, timeText } from './text-values.ts';

const BLANK: Readonly<Record<FieldType, (field: Field) => Json>> = {
  integer: () => 0,
  flag: () => 0,
  decimal: ({ scale = 0 }) => fixed(0, scale),
  date: () => NO_DATE,
  time: () => '',
  timestamp: () => `${NO_DATE} 00:00:00`,
  text: () => '',
  json: () => [],
};

/** Fields whose first value is not the blank one of their type. */
const firstValues = (today: string): Readonly<Record<string, JsonObject>> => ({
  projects: { code: null, active: 1, description: null },
  clients: { creation_date: today },
  providers: { creation_date: today, fax: null, email: null, website: null, term: null, credit: null },
  purchase_products: { produit_projet: null },
  products: { created_at: `${today} 09:00:00`, updated_at: `${today} 09:00:00`, special_price: null },
  punches: { end_time: null, note: null },
  categories: { status: 1 },
});

/** A record without input, made on that day: every documented and seen field, blank as the service writes it. */
export function blankRecord(kind: Kind, systemId: number, today = LAST_DAY): JsonObject {
  const fields = [...kind.fields, ...kind.hints];
  const blanks = fields.map((field) => [field.name, BLANK[field.type](field)] as const);
  const record: JsonObject = {
    ...Object.fromEntries(blanks),
    ...firstValues(datesUntil(today)(DAYS_OPEN))[kind.name],
  };
  return 'system_id' in record ? { ...record, system_id: systemId } : record;
}

const DRAWN: Readonly<Record<FieldType, (draw: Draw, field: Field) => Json>> = {
  integer: ({ random }) => random.integer(0, 60),
  flag: ({ random }) => random.integer(0, 1),
  decimal: ({ random }, { scale = 0 }) => fixed(random.integer(0, 9_999_999), scale),
  date: (draw) => (draw.random.chance(0.05) ? NO_DATE : draw.company.dateOf(dayOf(draw))),
  time: ({ random }) => timeText(random.integer(26, 68) * 15),
  timestamp: (draw) => `${draw.company.dateOf(dayOf(draw))} ${timeText(draw.random.integer(480, 1020))}`,
  text: ({ random }) => (random.chance(0.2) ? '' : `${random.pick(NOTES)}.`),
  json: (draw, { items = [] }) => {
    const length = items.length === 0 ? 0 : draw.random.integer(0, MAX_ITEMS);
    return Array.from({ length }, (_, at) => objectOf({ ...draw, id: draw.id * MAX_ITEMS + at }, items));
  },
};

const MAX_ITEMS = 3;

function objectOf(draw: Draw, fields: readonly Field[]): JsonObject {
  const valueOf = (field: Field): Json => {
    if (field.name === 'id') return draw.id;
    if (field.name === 'system_id') return draw.company.systemId;
    if (field.refersTo === undefined) return DRAWN[field.type](draw, field);
    const id = anyId(draw, field.refersTo);
    return field.type === 'text' ? String(id) : id;
  };
  return Object.fromEntries(fields.map((field) => [field.name, valueOf(field)]));
}

/**
 * Makes the generator of a kind from its catalogue entry alone. The texts of its natural key, and the field that sorts its
 * list, follow the record's rank; so every record has its own.
 */
export function generatorOf({ name, fields, hints, naturalKey, list }: Kind): Generate {
  const all = [...fields, ...hints];
  const key = naturalKey === 'all sent fields' ? [] : naturalKey;
  const keys = all.filter(
    ({ name: field, type, refersTo }) => type === 'text' && refersTo === undefined && key.includes(field),
  );
  return (draw) => {
    const code = `${name.slice(0, 3).toUpperCase()}${String(draw.rank + 1).padStart(7, '0')}`;
    return {
      ...objectOf(draw, all),
      ...Object.fromEntries(keys.map((field) => [field.name, code])),
      ...(list?.order === 'code' && { code }),
      ...(list?.order === 'pickup date, newest first' && { pickup_date: pickupDate(draw) }),
    };
  };
}
