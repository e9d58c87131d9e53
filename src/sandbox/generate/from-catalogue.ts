import type { Field, FieldType, Kind } from '../catalog/kind.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import { NO_DATE, TODAY, fixed } from './generate/text-values.ts';

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
const FIRST_VALUES: Readonly<Record<string, JsonObject>> = {
  projects: { code: null, active: 1, description: null },
  clients: { creation_date: TODAY },
  providers: { creation_date: TODAY, fax: null, email: null, website: null, term: null, credit: null },
  purchase_products: { produit_projet: null },
  products: { created_at: `${TODAY} 09:00:00`, updated_at: `${TODAY} 09:00:00`, special_price: null },
  punches: { end_time: null, note: null },
  categories: { status: 1 },
};

/** A record without input: every documented and seen field, blank as the service writes it. */
export function blankRecord(kind: Kind, systemId: number): JsonObject {
  const fields = [...kind.fields, ...kind.hints];
  const blanks = fields.map((field) => [field.name, BLANK[field.type](field)] as const);
  const record: JsonObject = { ...Object.fromEntries(blanks), ...FIRST_VALUES[kind.name] };
  return 'system_id' in record ? { ...record, system_id: systemId } : record;
}
