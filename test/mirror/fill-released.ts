import { sql } from 'drizzle-orm';
import { isListed } from '../../src/catalog/kind.ts';
import type { Field, FieldType, Kind } from '../../src/catalog/kind.ts';
import { recordDecoder } from '../../src/diff/decode-record.ts';
import { compactJson } from '../../src/lib/json/json.ts';
import { writeMeta } from '../../src/mirror/kinds/meta.ts';
import type { Session, Transaction } from '../../src/mirror/session/session.ts';
import { idsText } from '../../src/mirror/sightings/page-store.ts';
import { OWN_COLUMNS } from '../../src/mirror/tables/kind-table.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { RELEASED_KINDS } from './released-mirror.ts';

const SEEN_AT = '2026-11-22 10:13:25.000';

/** Puts a sandbox's records into a released mirror that is not migrated yet, as if all its sweeps had shown them. */
export async function fillReleased(session: Session, service: Sandbox): Promise<void> {
  await session.atomically(async (tx) => {
    await writeMeta(tx, 'source.base_url', service.url);
    for (const table of ['changes', 'touched', 'pages']) await tx.execute(`delete from ${table}`);
    for (const kind of RELEASED_KINDS.filter(isListed)) await fillKind(tx, kind, service);
  });
}

async function fillKind(tx: Transaction, declared: Kind, { world }: Sandbox): Promise<void> {
  const kind = await asReleased(tx, declared);
  const ids = [...world.ids(kind.name)].sort((a, b) => a - b);
  await tx.query(sql`delete from ${sql.identifier(kind.name)}`);
  await tx.query(sql`delete from sightings where kind = ${kind.name} and page > 1`);
  await tx.query(sql`
    update sightings set ids = ${idsText(ids.map(String))}, rows = ${ids.length}, end_rows = ${ids.length},
      total = ${ids.length} where kind = ${kind.name}`);
  await tx.putRows({
    table: kind.name,
    columns: [...kind.fields.map(({ name }) => name), ...OWN_COLUMNS],
    rows: ids.map((id) => {
      const record = world.get(kind.name, id) ?? {};
      const own = [compactJson(record), SEEN_AT, SEEN_AT, null, 2, 2];
      return [...recordDecoder(kind)(record).values, ...own];
    }),
  });
}

/** A kind with the columns that the release before gave it: no field referred to a kind. */
async function asReleased(tx: Transaction, kind: Kind): Promise<Kind> {
  const rows = await tx.query(sql`
    select field, column_type, column_scale from fields
    where kind = ${kind.name} and column_type is not null and column_type <> 'unusable' order by position`);
  const documented = kind.fields.map((field): Field => {
    const { refersTo, ...rest } = field;
    return refersTo === undefined ? field : rest;
  });
  const discovered = rows.map((row): Field => {
    const [name, type] = [String(row['field']), String(row['column_type']) as FieldType];
    return row['column_scale'] === null ? { name, type } : { name, type, scale: Number(row['column_scale']) };
  });
  return { ...kind, fields: [...documented, ...discovered] };
}
