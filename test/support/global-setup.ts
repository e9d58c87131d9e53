import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { judgeRun } from '../canary/judge-run.ts';
import { findRedis, startRedis } from './redis-server.ts';
import { useScratchFolder } from './scratch-folder.ts';
import { seedOf } from './seed.ts';
import { servePostgres } from './serve-postgres.ts';
import { tierOf } from './tiers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where tests ask for the PostgreSQL server of this run (`sharedPostgres`). */
    postgresOffer: string;
    /** Where migrated SQLite mirrors are kept to be copied (`copyMirror`). */
    templateFolder: string;
    /** Random tests of this run draw from it. */
    seed: number;
    /** A Redis for the tests of this run, to be shared: use queue names of your own, never flush it. `freshRedis` makes others. */
    redisUrl: string;
  }
}

/** Starts the servers of a test run; vitest calls what it returns at the end. */
export default async function startServers(project: TestProject): Promise<() => Promise<void>> {
  const removeScratch = useScratchFolder();
  project.provide('templateFolder', mkdtempSync(join(tmpdir(), 'bms-templates-')));
  provideSeed(project);
  const judge = judgeRun(project);
  const stop =
    tierOf(process.env) === 'fast'
      ? []
      : await Promise.all([startSharedRedis(project), offerPostgres(project)]);
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

async function offerPostgres(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await servePostgres();
  project.provide('postgresOffer', url);
  return stop;
}
