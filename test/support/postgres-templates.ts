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

/** Migrates the mirrors that tests get copies of; connections to them would prevent copies. */
export async function makeTemplates(server: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    for (const [name, kinds] of Object.entries(TEMPLATES)) {
      await client.query(`create database ${name}`);
      const url = new URL(server);
      url.pathname = name;
      await using session = await openPostgresSession(url.href);
      await migrate(session, kinds);
      if (name === 'template_grown') await growAsSandbox(session);
    }
  } finally {
    await client.end();
  }
}
