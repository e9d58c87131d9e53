import { createHash } from 'node:crypto';
import { sql, type SQL } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import type { Queryable, Session } from '../../db/session/session.ts';
import { OLD_CONTACTS, qualifiedName } from '../../db/session/sql-text.ts';
import { readTexts } from '../../db/rows/rows.ts';
import { MIRROR } from '../../db/sqlite/snapshot-file.ts';
import { readMirroredKind } from '../../store/kinds/field-store.ts';
import { nestedTables } from '../../store/tables/kind-table.ts';

interface DialectReader extends Queryable {
  readonly dialect: Session['dialect'];
}

/**
 * Returns, by view, a hash of everything that determines the content of a kind's views: its rows, by the index of their instants;
 * decoding, backfills, exclusions and erasures; and the definition of the view. A table without that index has few rows.
 */
export async function readViewStates(
  reader: DialectReader,
  kinds: readonly Kind[],
): Promise<ReadonlyMap<string, string>> {
  const states = new Map<string, string>();
  for (const kind of kinds) {
    const { name } = kind;
    const facts = await readTexts(reader, kindFacts(reader.dialect, name));
    const nested = nestedTables(await readMirroredKind(reader, kind)).map((table) => `bi_${table.name}`);
    for (const view of [`bi_${name}`, ...nested, ...(name === 'clients' ? [OLD_CONTACTS] : [])]) {
      const defined = await readTexts(reader, DEFINITION[reader.dialect](view));
      const content = JSON.stringify([facts, defined]);
      states.set(view, createHash('sha256').update(content).digest('hex'));
    }
  }
  return states;
}

const DEFINITION: Record<Session['dialect'], (view: string) => SQL> = {
  sqlite: (view) => sql`select sql from ${sql.identifier(MIRROR)}.sqlite_schema where name = ${view}`,
  postgres: (view) => sql`select pg_get_viewdef(to_regclass(${qualifiedName(view)}))`,
};

const MILLISECONDS: Record<Session['dialect'], (column: string) => SQL> = {
  sqlite: (column) =>
    sql`unixepoch(${sql.identifier(column)}) * 1000 + substr(${sql.identifier(column)}, 21, 3)`,
  postgres: (column) => sql`extract(epoch from ${sql.identifier(column)}) * 1000`,
};

/** Every write of a record changes `_changed_at` or `_deleted_at`. Their sum shows it even if the clock runs backwards. */
function kindFacts(dialect: Session['dialect'], kind: string): SQL {
  const instants = ['_changed_at', '_deleted_at'].map(
    (column) => sql`coalesce(cast(sum(${MILLISECONDS[dialect](column)}) as text), '')`,
  );
  const text = (value: SQL): SQL => sql`coalesce(cast(${value} as text), '')`;
  return sql`
    select count(*) || ' ' || count(_deleted_at) || ' ' || ${sql.join(instants, sql` || ' ' || `)} from ${sql.identifier(kind)}
    union all select ${text(sql`max(id)`)} from erasures where kind = ${kind}
    union all select ${text(sql`max(decoded_as)`)} from kind_state where kind = ${kind}
    union all select ${text(sql`max(r.id)`)} || ${text(sql`max(r.finished_at)`)} from runs r
      join run_kinds k on k.run_id = r.id where r.command = 'backfill' and k.kind = ${kind}
    union all select ${text(sql`max(value)`)} from mirror_meta where key = 'privacy.excluded'
    union all select ${text(sql`max(value)`)} from mirror_meta where key = 'privacy.excluding'`;
}
