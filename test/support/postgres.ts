import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { emptyDatabase } from './empty-database.ts';
import { runOn, type Template } from './postgres-templates.ts';
import type { SharedPostgres } from './serve-postgres.ts';

/** Databases that are empty again, by their template: only what a test has altered is made anew for the next one. */
const EMPTIED = new Map<Template | 'template1', string[]>();

/** Returns the server of this run, with a template where one is named; the first who asks waits until they are there. */
export async function sharedPostgres(template: Template | '' = ''): Promise<SharedPostgres> {
  const known = SHARED.get(template) ?? askForPostgres(template);
  SHARED.set(template, known);
  known.catch(() => SHARED.delete(template)); // The next test that asks tries again.
  return known;
}

const SHARED = new Map<string, Promise<SharedPostgres>>();

async function askForPostgres(template: string): Promise<SharedPostgres> {
  const answer = await fetch(`${inject('postgresOffer')}/${template}`);
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as SharedPostgres;
}

export interface FreshDatabase {
  readonly url: string;
  readonly drop: () => Promise<void>;
}

/** Makes a PostgreSQL database for one test: an empty one, or a copy of a mirror that was migrated before the tests. */
export async function freshDatabase(template: Template | 'template1' = 'template1'): Promise<FreshDatabase> {
  const { url: server, fills } = await sharedPostgres(template === 'template1' ? '' : template);
  const emptied = EMPTIED.get(template) ?? [];
  EMPTIED.set(template, emptied);
  const url = emptied.pop() ?? (await makeDatabase(server, template));
  return {
    url,
    drop: async () => {
      if (await emptyDatabase(url, fills)) emptied.push(url);
      else await runOn(server, `drop database ${nameOf(url)} with (force)`);
    },
  };
}

async function makeDatabase(server: string, template: string): Promise<string> {
  const url = new URL(server);
  url.pathname = `test_${randomUUID().replaceAll('-', '')}`;
  const name = nameOf(url.href);
  await runOn(server, `create database ${name} template ${template} strategy file_copy`);
  await runOn(server, `comment on database ${name} is 'of the tests'`);
  return url.href;
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

/** The address of such a database that goes when the test ends. */
export async function freshDatabaseUrl(template?: Template): Promise<string> {
  const { url, drop } = await freshDatabase(template);
  onTestFinished(drop);
  return url;
}

/** The same with the schema of our tables, for sessions whose tables are made by hand. */
export async function databaseWithSchema(): Promise<string> {
  const url = await freshDatabaseUrl();
  await runOn(url, 'create schema bms_sync');
  return url;
}

/** A connection beside the session under test, closed when the test ends. */
export async function bystander(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // Dropping the database ends it.
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

export interface FreshRole {
  readonly name: string;
  /** The database's address for a connection as this role. */
  readonly url: string;
}

/** A role without rights of its own, which goes when the test ends, with all that it owns in this database. */
export async function freshRole(url: string): Promise<FreshRole> {
  const name = `role_${randomUUID().replaceAll('-', '')}`;
  await runOn(url, `create role ${name} login password 'of-a-test'`);
  onTestFinished(async () => {
    await runOn(url, `drop owned by ${name} cascade; drop role ${name}`);
  });
  const own = new URL(url);
  own.username = name;
  own.password = 'of-a-test';
  return { name, url: own.href };
}
