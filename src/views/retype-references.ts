import { sql } from 'drizzle-orm';
import type { Kind } from '../catalog/kind.ts';
import { hasRow } from '../db/rows/rows.ts';
import type { Transaction } from '../db/session/session.ts';
import { identifier, qualifiedName } from '../db/session/sql-text.ts';
import { saveColumn } from '../store/kinds/field-store.ts';
import { nestedTables } from '../store/tables/kind-table.ts';
import { withoutViewChecks } from './create-views.ts';

/**
 * Changes references in nested arrays from text (as in 1.0) to the type of an id. Their columns go here; like any other that is
 * missing they are added, and filled from `_raw`.
 */
export async function retypeReferences(tx: Transaction, kinds: readonly Kind[]): Promise<void> {
  for (const { name, hints } of kinds.flatMap(nestedTables))
    for (const hint of hints) {
      const isText = sql`select 1 from fields where kind = ${name} and field = ${hint.name} and column_type = 'text'`;
      if (!(await hasRow(tx, isText))) continue;
      if (tx.dialect === 'postgres') await tx.execute(`drop view if exists ${qualifiedName(`bi_${name}`)}`);
      await withoutViewChecks(tx, () =>
        tx.execute(`alter table ${identifier(name)} drop column ${identifier(hint.name)}`),
      );
      await saveColumn(tx, name, hint);
    }
}
