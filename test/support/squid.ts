import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { findProgram } from './apt.ts';
import { freePort, isListening } from './redis-server.ts';
import { tempFolder } from './temp-folder.ts';

/** Starts squid with these rules of access until the test ends; returns its address. */
export async function startSquid(rules: readonly string[]): Promise<URL> {
  const path = findProgram({ names: ['squid'], package: 'squid', what: 'the proxy squid' });
  const port = await freePort();
  const folder = tempFolder();
  chmodSync(folder, 0o777); // Started by root it becomes another user.
  const config = join(folder, 'squid.conf');
  const own = [
    `http_port 127.0.0.1:${port}`,
    `pid_filename none`,
    `cache_log ${folder}/log`,
    'access_log none',
    'cache deny all',
    'shutdown_lifetime 0 seconds',
  ];
  writeFileSync(config, [...own, ...rules.map((rule) => rule.replace('FOLDER', folder)), ''].join('\n'));
  const child = spawn(path, ['-N', '-f', config], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  for (let tries = 0; tries < 500 && child.exitCode === null; tries++) {
    if (await isListening(port)) return new URL(`http://127.0.0.1:${port}`);
    await delay(20);
  }
  throw new Error('squid did not start.');
}
