import pg from 'pg';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import type { Kind } from '../../src/catalog/kind.ts';
import { openPostgresSession } from '../../src/db/postgres/session.ts';
import { migrate } from '../../src/views/migrate.ts';
import { growAsSandbox } from './grown-mirror.ts';

/** Two kinds are enough to show whether a store keeps them apart, and are drawn in a moment. */
export const TWO_KINDS: readonly Kind[] = KINDS.filter(({ name }) => ['clients', 'products'].includes(name));

const TEMPLATES = {
  template_two_kinds: TWO_KINDS,
  template_all_kinds: KINDS,
  template_grown: KINDS,
} as const;

/** A database of this run that holds a migrated mirror without rows; to copy it costs a tenth of migrating again. */
export type Template = keyof typeof TEMPLATES;

/** The rows that migrating has put into a template, by table: statements that put them into an empty copy. */
export type TemplateRows = Readonly<Record<Template, Readonly<Record<string, string>>>>;

/** Migrates the mirrors that tests get copies of; connections to them would prevent copies. */
export async function makeTemplates(server: string): Promise<TemplateRows> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    const made: [string, Readonly<Record<string, string>>][] = [];
    for (const [name, kinds] of Object.entries(TEMPLATES)) {
      await client.query(`create database ${name}`);
      const url = new URL(server);
      url.pathname = name;
      await using session = await openPostgresSession(url.href);
      await migrate(session, kinds);
      if (name === 'template_grown') await growAsSandbox(session);
      made.push([name, await keepRows(url)]);
    }
    return Object.fromEntries(made) as TemplateRows;
  } finally {
    await client.end();
  }
}

/** Copies the filled tables to files of the server, which outlive what a test does to the rows. */
async function keepRows(template: URL): Promise<Readonly<Record<string, string>>> {
  const client = new pg.Client({ connectionString: template.href });
  await client.connect();
  try {
    const { rows } = await client.query<{ table: string; file: string }>(`
      select format('%I.%I', schemaname, relname) as table,
        format('%s/%s.%s', current_setting('data_directory'), current_database(), relname) as file
      from pg_stat_user_tables where pg_relation_size(relid) > 0`);
    for (const { table, file } of rows) await client.query(`copy ${table} to '${file}'`);
    return Object.fromEntries(rows.map(({ table, file }) => [table, `copy ${table} from '${file}'`]));
  } finally {
    await client.end();
  }
}
