import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { findProgram } from './apt.ts';
import { freePort, isListening } from './redis-server.ts';

const NOBODY = 65_534;

/**
 * Starts a PgBouncer before the server of this address, which gives each transaction any connection that is free; it ends with
 * the test.
 *
 * @param connections Connections to the server: with one, the next transaction meets what the last one left.
 * @returns The address of the same database through it.
 */
export async function behindPgBouncer(url: string, connections = 1): Promise<string> {
  const program = findProgram({
    names: ['pgbouncer', '../sbin/pgbouncer'],
    package: 'pgbouncer',
    what: 'PgBouncer (1.18 or later)',
  });
  const server = new URL(url);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'bms-pgbouncer-'));
  chmodSync(folder, 0o755);
  const settings = join(folder, 'pgbouncer.ini');
  const login = `user=${server.username} password='${decodeURIComponent(server.password)}'`;
  writeFileSync(
    settings,
    `[databases]
* = host=${server.hostname} port=${server.port} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${connections}
`,
  );
  // It refuses to run as root.
  const user = userInfo().uid === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(program, [settings], { stdio: 'ignore', ...user });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`PgBouncer did not start on port ${port}.`);
    await delay(10);
  }
  server.host = `127.0.0.1:${port}`;
  return server.href;
}
