import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startSandbox } from '../../sandbox/sandbox.ts';
import type { World } from '../../sandbox/world.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';
import type { Env } from '../support/command-line.ts';
import { sharedPostgres } from '../support/postgres.ts';
import { runProgram } from '../support/program.ts';
import { insertHardRows } from './hard-rows.ts';

/** The snapshot that docs/reporting names. */
export const SNAPSHOT = 'data/bi.db';

/** Both mirrors of one sandbox, at the addresses that docs/reporting names: only PostgreSQL's port differs. */
export interface Stage extends AsyncDisposable {
  /** The folder that has `data/mirror.db` and its snapshot: a page's commands run in it. */
  readonly folder: string;
  /** Of the PostgreSQL server whose database `mirror` the role `analyst` may read. */
  readonly port: number;
  readonly world: World;
  /** The records that are gone, by their kinds. */
  readonly removed: Readonly<Record<string, readonly JsonObject[]>>;
  /** The settings that pull the company into PostgreSQL. */
  readonly settings: Env;
}

const SIZE = 120;
const GRACE = { BMS__DELETIONS__GRACE_SECONDS: '0' };

/** Pulls a company with rows that are hard for drivers into both databases, changes it, and pulls again. */
export async function openStage(): Promise<Stage> {
  const { url: server } = await sharedPostgres();
  const folder = mkdtempSync(join(tmpdir(), 'bms-clients-'));
  mkdirSync(join(folder, 'data'));
  await onServer(server, "create database mirror; create role analyst login password 'secret'");
  const postgres = new URL(server);
  postgres.pathname = 'mirror';
  await onServer(postgres.href, 'create schema reports authorization analyst'); // As the page about dbt says.
  const sandbox = await startSandbox({ size: SIZE });
  insertHardRows(sandbox.world);
  const databases = [
    { DATABASE_URL: `file:${join(folder, 'data/mirror.db')}` },
    { DATABASE_URL: postgres.href, BMS__BI__READER_ROLE: 'analyst' },
  ];
  const service = { BMS_BASE_URL: sandbox.url, BMS_TOKEN: sandbox.token, ...GRACE };
  const pullBoth = () => Promise.all(databases.map((env) => run(['pull', '--json'], { ...service, ...env })));
  await pullBoth();
  const removed = changeSome(sandbox.world);
  await pullBoth(); // A record that is gone is suspected …
  await pullBoth(); // … and a tombstone.
  await run(['snapshot', join(folder, SNAPSHOT)], { ...GRACE, ...databases[0] });
  return {
    folder,
    port: Number(postgres.port),
    world: sandbox.world,
    removed,
    settings: { ...service, ...databases[1] },
    [Symbol.asyncDispose]: async () => {
      await sandbox.close();
      await onServer(server, 'drop database mirror with (force); drop role analyst');
      rmSync(folder, { recursive: true });
    },
  };
}

async function run(argv: readonly string[], env: Env): Promise<void> {
  const { code, stderr } = await runProgram(argv, { env });
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}:\n${stderr}`);
}

/** So that there are events, versions of records and deleted ones, which it returns. */
function changeSome(world: World): Stage['removed'] {
  const ids = world.ids('clients');
  const [first = 0] = ids;
  world.update('clients', first, { name: 'Renommée à l’été', credit: '10.10' });
  world.update('products', world.ids('products')[0] ?? 0, { price: '12.3400' });
  const gone = [
    ['clients', Math.max(...ids)], // The last hard row, which no record names.
    ['purchase_products', world.ids('purchase_products')[0] ?? 0],
  ] as const;
  return Object.fromEntries(
    gone.map(([kind, id]) => {
      const record = world.get(kind, id) ?? {};
      world.remove(kind, id);
      return [kind, [record]];
    }),
  );
}

/** Runs statements one by one: `create database` cannot run in a transaction. */
async function onServer(server: string, statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    for (const statement of statements.split(';')) await client.query(statement);
  } finally {
    await client.end();
  }
}
