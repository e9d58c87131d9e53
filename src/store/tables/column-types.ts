/** Columns of engine tables that drizzle lacks, or declares less strictly. */

import { sql } from 'drizzle-orm';
import { customType, integer } from 'drizzle-orm/sqlite-core';

/** What a text column can hold of a record: its content, names of its fields, quotes from it or from an answer about it. */
export type Holds = 'record' | 'names' | 'quotes' | 'nothing';

interface Held {
  config: { readonly holds: Holds };
  configRequired: true;
}

const heldText = customType<Held & { data: string }>({ dataType: () => 'text', fromDriver: String });

/** A text. It declares what `forget` and `privacy.exclude` have to clean in it. */
export const text = <Name extends string>(name: Name, holds: Holds) => heldText(name, { holds });

const heldList = customType<Held & { data: readonly string[]; driverData: string }>({
  dataType: () => 'text',
  fromDriver: (json) => JSON.parse(json) as string[],
  toDriver: (list) => JSON.stringify(list),
});

/** A text that is a JSON list of words. */
export const wordList = <Name extends string>(name: Name, holds: Holds) => heldList(name, { holds });

// BI clients rely on the declared type: BIGINT is 64-bit over ODBC, TIMESTAMP a timestamp over JDBC.
export const bigint = customType<{ data: number }>({ dataType: () => 'BIGINT', fromDriver: Number });
export const timestamp = customType<{ data: string }>({ dataType: () => 'TIMESTAMP', fromDriver: String });

export const serial = <Name extends string>(name: Name) => integer(name).primaryKey({ autoIncrement: true });

export const NOW = sql`(strftime('%Y-%m-%d %H:%M:%f', 'now'))`;
export const ZERO = sql`0`; // Of the number 0 drizzle-kit makes another default, and would rebuild the tables.

/** `record_id` as the database computes it, null where it is no 64-bit integer. A cast takes the digits that a text begins with, and the nearest number that fits. */
export const recordNumber = () =>
  bigint('record_number').generatedAlwaysAs(
    sql`case when cast(cast(record_id as integer) as text) = record_id then cast(record_id as integer) end`,
  );
