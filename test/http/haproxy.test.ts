import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { tempMirror } from '../store/temp-mirror.ts';
import { findProgram } from '../support/apt.ts';
import { freePort } from '../support/redis-server.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { serveMirror } from './stage.ts';

/** Starts HAProxy in front of a server, with this check; returns its address. */
async function startHaproxy(host: string, check: string): Promise<string> {
  const names = ['haproxy', '../sbin/haproxy'];
  const haproxy = findProgram({ names, package: 'haproxy', what: 'HAProxy' });
  const port = await freePort();
  const config = join(tempFolder(), 'haproxy.cfg');
  const lines = [
    'defaults',
    '  mode http',
    '  timeout connect 5s',
    '  timeout client 30s',
    '  timeout server 30s',
    '  timeout check 30s',
    'listen bms',
    `  bind 127.0.0.1:${port}`,
    '  stats uri /checks',
    `  option httpchk ${check}`, // cspell:disable-line
    `  server one ${host} check inter 50`,
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  const child = spawn(haproxy, ['-db', '-f', config], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  return `http://127.0.0.1:${port}`;
}

/** What the first check found, as `L7OK 200`. */
async function firstCheck(url: string): Promise<string> {
  for (let tries = 0; tries < 500; tries += 1) {
    const answer = await fetch(`${url}/checks;csv`).catch(() => null);
    const [head = [], ...rows] = ((await answer?.text()) ?? '').split('\n').map((line) => line.split(','));
    const row = rows.find((cells) => cells[1] === 'one');
    const cell = (name: string): string => row?.[head.indexOf(name)] ?? '';
    const status = cell('check_status').replace('* ', ''); // It is being checked again.
    if (status.startsWith('L')) return `${status} ${cell('check_code')}`;
    await delay(20);
  }
  throw new Error('HAProxy made no check.');
}

test.each(['GET /health', 'GET /ready', 'HEAD /health/'])(
  "HAProxy's check by %s, in HTTP/1.0 without a Host, finds the server up",
  async (check) => {
    const { host } = await serveMirror(await tempMirror());
    const url = await startHaproxy(host, check);
    expect(await firstCheck(url)).toBe('L7OK 200');
    expect((await fetch(`${url}/health`)).status).toBe(200);
  },
);
