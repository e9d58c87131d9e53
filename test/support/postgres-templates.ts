import pg from 'pg';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import { openPostgresSession } from '../../src/db/postgres/session.ts';
import { migrate } from '../../src/views/migrate.ts';

/** Two kinds are enough to show whether a store keeps them apart, and are created in a moment. */
export const TWO_KINDS: readonly Kind[] = KINDS.filter(({ name }) => ['clients', 'products'].includes(name));

const TEMPLATES = {
  template_two_kinds: TWO_KINDS,
  template_all_kinds: KINDS,
  template_grown: KINDS,
} as const;

/** A database of this run that holds a migrated mirror without rows; to copy it costs a tenth of migrating again. */
export type Template = keyof typeof TEMPLATES;

type Fills = Readonly<Record<string, string>>;

/** Migrates the mirrors that tests get copies of, each once; connections to them would prevent copies. */
export function createTemplates(server: string) {
  const made = new Map<string, Promise<Fills>>();
  const make = async (name: string): Promise<Fills> => {
    const isGrown = name === 'template_grown';
    if (isGrown) await fillsOf('template_all_kinds');
    const base = isGrown ? 'template_all_kinds' : 'template1';
    await runOn(server, `drop database if exists ${name} with (force)`); // Of an attempt that failed.
    await runOn(server, `create database ${name} template ${base} strategy file_copy`);
    const url = new URL(server);
    url.pathname = name;
    await using session = await openPostgresSession(url.href);
    if (isGrown) await (await import('./grown-mirror.ts')).growAsSandbox(session);
    else await migrate(session, TEMPLATES[name as Template]);
    return await keepRows(url.href);
  };
  /** This process also serves all workers: it may be too busy to connect in time. */
  const makeAtLast = (name: string, attempts = 5): Promise<Fills> =>
    make(name).catch((error: unknown) => {
      if (attempts === 1) throw error;
      return makeAtLast(name, attempts - 1);
    });
  const fillsOf = (name: string): Promise<Fills> => {
    const known = made.get(name) ?? makeAtLast(name);
    made.set(name, known);
    known.catch(() => made.delete(name)); // The next test that asks tries again.
    return known;
  };
  return { fillsOf };
}

/** Copies the filled tables to files of the server, which outlive what a test does to the rows. */
async function keepRows(template: string): Promise<Fills> {
  const rows = await runOn<{ table: string; file: string }>(
    template,
    `select format('%I.%I', schemaname, relname) as table,
      format('%s/%s.%s', current_setting('data_directory'), current_database(), relname) as file
    from pg_stat_user_tables where pg_relation_size(relid) > 0`,
  );
  await runOn(template, rows.map(({ table, file }) => `copy ${table} to '${file}'`).join(';'));
  return Object.fromEntries(rows.map(({ table, file }) => [table, `copy ${table} from '${file}'`]));
}

/** Runs a statement in a connection of its own. */
export async function runOn<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
