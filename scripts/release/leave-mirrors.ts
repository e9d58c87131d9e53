import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts';
import { startPostgresServer } from '../../test/support/postgres-server.ts';
import { dumpDatabase } from './dump-database.ts';

/**
 * Leaves a mirror of this release in both databases, small but with changes, a deletion and an entry that waits: later releases
 * are tested with them. Made by the built command.
 *
 * @param folder `test/released/X.Y.Z`: gets `mirror.db.gz` and `mirror.sql.gz`.
 */
export async function leaveMirrors(root: string, folder: string): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'bms-sync-released-'));
  const server = await startPostgresServer({ password: 'released' });
  try {
    mkdirSync(folder, { recursive: true });
    const file = join(work, 'mirror.db');
    await fill(root, `file:${file}`);
    const copy = join(work, 'copy.db');
    const db = new DatabaseSync(file);
    db.prepare('vacuum into ?').run(copy);
    db.close();
    writeFileSync(join(folder, 'mirror.db.gz'), gzipSync(readFileSync(copy), { level: 9 }));

    await fill(root, server.url);
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    const dump = await dumpDatabase(client);
    await client.end();
    writeFileSync(join(folder, 'mirror.sql.gz'), gzipSync(dump, { level: 9 }));
  } finally {
    await server.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

async function fill(root: string, database: string): Promise<void> {
  await using sandbox = await startSandbox({ size: 20 });
  const env = { ...settingsFor(sandbox, database), PATH: process.env['PATH'] };
  const run = (...argv: string[]): Promise<unknown> =>
    promisify(execFile)(process.execPath, [join(root, 'dist/main.js'), ...argv], { env });
  await run('pull');
  const [changed = 0, deleted = 0] = sandbox.world.ids('clients');
  sandbox.world.update('clients', changed, { name: 'Garage de la Rivière', credit: '12.50' });
  sandbox.world.remove('clients', deleted);
  sandbox.world.insert('clients', { code: '000999', name: 'New', loyalty: 'gold' }); // An undocumented field.
  for (let times = 0; times < 3; times++) await run('pull');
  await run('push', 'create', 'clients', '--data', '{"code":"C-1","name":"Waits"}', '--key', 'waits');
}

const settingsFor = (sandbox: Sandbox, database: string): Record<string, string> => ({
  BMS_BASE_URL: sandbox.url,
  BMS_TOKEN: sandbox.token,
  DATABASE_URL: database,
  BMS__DELETIONS__GRACE_SECONDS: '0',
});
