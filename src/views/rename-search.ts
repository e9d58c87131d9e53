import type { Kind } from '../catalog/kind.ts';
import type { Transaction } from '../db/session/session.ts';
import { TABLES_SCHEMA, identifier } from '../db/session/sql-text.ts';
import { writeMeta } from '../store/kinds/meta.ts';
import { indexName } from '../store/schema/change-kind-tables.ts';
import { searchTables } from '../store/tables/kind-table.ts';
import { SEARCH_COLUMN } from '../store/tables/search-text.ts';
import { withoutViewChecks } from './create-views.ts';

const OLD_COLUMN = '_found';

/** Renames the search column of earlier releases, and its index; SQLite drops the index, which is created again afterwards. */
export async function renameSearchColumns(tx: Transaction, kinds: readonly Kind[]): Promise<void> {
  for (const kind of kinds)
    for (const { name } of searchTables(kind)) {
      if (!(await tx.listColumns(name)).has(OLD_COLUMN)) continue;
      const index = identifier(indexName(name, 'found'));
      await withoutViewChecks(tx, () =>
        tx.execute(`alter table ${identifier(name)} rename column ${OLD_COLUMN} to ${SEARCH_COLUMN}`),
      );
      await tx.execute(
        tx.dialect === 'sqlite'
          ? `drop index if exists ${index}`
          : `alter index if exists ${TABLES_SCHEMA}.${index} rename to ${identifier(indexName(name, 'search'))}`,
      );
      await writeMeta(tx, `search.${kind.name}`, 'ready');
    }
}
