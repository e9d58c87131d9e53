import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { judgeRun } from '../canary/judge-run.ts';
import { watch } from '../canary/watch.ts';
import { canary } from './canary.ts';
import { startPostgresServer } from './postgres-server.ts';
import { makeTemplates, type TemplateRows } from './postgres-templates.ts';
import { findRedis, startRedis } from './redis-server.ts';
import { useScratchFolder } from './scratch-folder.ts';
import { seedOf } from './seed.ts';
import { tierOf } from './tiers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL server for the tests of this run; `freshDatabase` makes databases in it. */
    postgresUrl: string;
    templateRows: TemplateRows;
    /** Where migrated SQLite mirrors are kept to be copied (`copyMirror`). */
    templateFolder: string;
    /** Random tests of this run draw from it. */
    seed: number;
    /** A Redis for the tests of this run, to be shared: use queue names of your own, never flush it. `freshRedis` makes others. */
    redisUrl: string;
  }
}

const PASSWORD = canary('-postgres');
/** Nothing of PostgreSQL outlives the run, so it need not wait for the disk, nor tidy up. */
const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'autovacuum=off',
  'max_connections=200',
  'unix_socket_directories=',
];

/** Starts the servers of a test run; vitest calls what it returns at the end. */
export default async function startServers(project: TestProject): Promise<() => Promise<void>> {
  const removeScratch = useScratchFolder();
  project.provide('templateFolder', mkdtempSync(join(tmpdir(), 'bms-templates-')));
  provideSeed(project);
  const judge = judgeRun(project);
  const stop =
    tierOf(process.env) === 'fast'
      ? []
      : await Promise.all([startSharedRedis(project), startPostgres(project)]);
  return async () => {
    await Promise.all(stop.map((stopOne) => stopOne()));
    await judge();
    removeScratch();
  };
}

async function startSharedRedis(project: TestProject): Promise<() => Promise<void>> {
  const redis = await startRedis(findRedis());
  project.provide('redisUrl', redis.url);
  return () => redis.stop();
}

function provideSeed(project: TestProject): void {
  const seed = seedOf(process.env);
  process.stdout.write(`Random tests draw from the seed ${seed}: BMS_TEST_SEED=${seed} repeats them.\n`);
  project.provide('seed', seed);
}

async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const log: string[] = [];
  const server = await startPostgresServer({
    password: PASSWORD,
    settings: SETTINGS,
    initdbFlags: ['--set=scram_iterations=1'], // Thousands of connections check a password.
    onLog: (line) => {
      log.push(line);
      watch.look({ place: 'log of PostgreSQL', what: () => line }, line);
    },
  }).catch((error: unknown) => {
    const details = [error instanceof Error ? error.message : '', ...log.slice(-5)].join('\n').trim();
    throw new Error(`The tests need a PostgreSQL server of their own, which did not start:\n${details}`);
  });
  project.provide('templateRows', await makeTemplates(server.url));
  project.provide('postgresUrl', server.url);
  return server.stop;
}
