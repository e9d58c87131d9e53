import { sql } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import type { MisfitCode } from '../../diff/decode-field.ts';
import { textColumnName } from '../../diff/discovered-column.ts';
import { saveDrift } from '../kinds/drift-store.ts';
import { saveTextColumn } from '../kinds/field-store.ts';
import type { Queryable, Transaction } from '../session/session.ts';
import { sqlList } from '../session/sql-list.ts';

/** Codes of misfits whose value cannot stand in the column and is a text that a database can store. */
const LOST: readonly MisfitCode[] = [
  'not_an_integer',
  'not_a_flag',
  'not_a_decimal',
  'not_a_date',
  'not_a_time',
  'not_a_timestamp',
  'not_text',
];

/**
 * Registers `<field>_text` for each discovered field, and each reference documented as a text, that has an open misfit. The
 * table and the view do not have the column yet.
 *
 * @returns The kind with these columns.
 */
export async function addTextColumns<K extends Kind>(tx: Transaction, kind: K, now: Date): Promise<K> {
  let grown = kind;
  for (const field of await fieldsWithLostTexts(tx, kind)) {
    const name = textColumnName(grown, field);
    if (name === null) continue; // Its issue and `_raw` keep it.
    if (name !== `${field}_text`) {
      const detail = `"${field}_text" is a field of the service: values that do not fit are in "${name}"`;
      await saveDrift(tx, [{ kind: kind.name, code: 'text_column', field, detail }], now);
    }
    await saveTextColumn(tx, kind, { field, column: name, now });
    grown = { ...grown, fields: [...grown.fields, { name, type: 'text', textOf: field }] };
  }
  return grown;
}

/** An empty text cannot stand in the column either, but needs no column to be kept. */
async function fieldsWithLostTexts(db: Queryable, { name, fields }: Kind): Promise<readonly string[]> {
  const references = fields.filter(({ type, refersTo }) => type === 'text' && refersTo !== undefined);
  const names = ['', ...references.map((field) => field.name)];
  const rows = await db.query(sql`
    select i.field, coalesce(min(f.position), 0) as position from issues i
    left join fields f on f.kind = i.kind and f.field = i.field
    where i.kind = ${name} and i.closed_at is null and i.code in (${sqlList(LOST)}) and i.detail <> '""'
      and f.text_column is null and (f.column_type <> 'unusable' or i.field in (${sqlList(names)}))
    group by i.field order by 2, 1`);
  return rows.map((row) => String(row['field']));
}
