import { sql } from 'drizzle-orm';
import { excludeFields } from '../../src/catalog/exclude.ts';
import type { ListedKind } from '../../src/catalog/kind.ts';
import type { Session } from '../../src/db/session/session.ts';
import type { Content, Row } from './records.ts';

/** Fields that the settings keep out, and the value that every record of the service has there. */
export interface Secrets {
  readonly value: string;
  /** By kind. */
  readonly fields: Readonly<Record<string, string>>;
}

const FIELDS: Secrets['fields'] = {
  clients: 'website',
  projects: 'code',
  categories: 'name_en',
  products: 'name_en',
  punches: 'ptotal',
  purchase_products: 'product_serialnumber',
};

export const NO_SECRETS: Secrets = { value: '', fields: {} };
export const SOME_SECRETS: Secrets = { value: 'kept-out-by-privacy', fields: FIELDS };

/** The kind as our settings know it. */
export function withoutSecrets(kind: ListedKind, { fields }: Secrets): ListedKind {
  const field = fields[kind.name];
  return field === undefined ? kind : excludeFields(kind, [field]);
}

export function secretsOf({ name }: ListedKind, { value, fields }: Secrets): Content {
  const field = fields[name];
  return field === undefined ? {} : { [field]: value };
}

/** A record's text as the mirror may keep it. */
export function mayKeep(row: Row, field: string | undefined): string {
  if (field === undefined) return row.text;
  return JSON.stringify(Object.fromEntries(Object.entries(row.content).filter(([name]) => name !== field)));
}

/** The tables in which a value is found. */
export async function tablesWith(
  session: Session,
  tables: readonly string[],
  value: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const table of tables) {
    const rows = await session.query(sql`select * from ${sql.identifier(table)}`);
    if (
      JSON.stringify(rows, (_name, one: unknown) => (typeof one === 'bigint' ? String(one) : one)).includes(
        value,
      )
    )
      found.push(table);
  }
  return found;
}
