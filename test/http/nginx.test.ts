import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { tempMirror } from '../store/temp-mirror.ts';
import { findProgram } from '../support/apt.ts';
import { freePort } from '../support/redis-server.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { DEFAULTS, serveMirror, TOKEN, type Stage } from './stage.ts';

const PUBLIC = 'https://bms.garage.example';

/** Starts nginx in front of a server, with these lines in its `location /`; returns its address. */
async function startNginx(location: string): Promise<string> {
  const nginx = findProgram({ names: ['nginx'], package: 'nginx-light', what: 'nginx' });
  const folder = tempFolder();
  const port = await freePort();
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}
http { access_log off; ${paths.join(' ')} server { listen 127.0.0.1:${port}; location / { ${location} } } }\n`,
  );
  const child = spawn(nginx, ['-c', config, '-p', folder, '-e', 'stderr'], { stdio: 'ignore' });
  onTestFinished(async () => {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 500 && child.exitCode === null; tries += 1) {
    const answer = await fetch(`${url}/health`).catch(() => null);
    if (answer?.ok === true) return url;
    await delay(10);
  }
  throw new Error('nginx did not start.');
}

/** What a browser that opened the public address sends through a proxy: to sign in, and then to pull. */
async function signInThrough(url: string): Promise<readonly number[]> {
  const headers = { origin: PUBLIC };
  const login = await fetch(`${url}/login`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ token: TOKEN }),
    redirect: 'manual',
  });
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const pull = await fetch(`${url}/pulls`, {
    method: 'POST',
    headers: { ...headers, cookie },
    redirect: 'manual',
  });
  return [login.status, pull.status];
}

const served = async (publicUrl: string | null = PUBLIC): Promise<Stage> =>
  serveMirror(await tempMirror(), { webhooks: { ...DEFAULTS.webhooks, publicUrl } });

test('people sign in and decide through an nginx that only passes on', async () => {
  const stage = await served();
  expect(await signInThrough(await startNginx(`proxy_pass ${stage.url};`))).toEqual([303, 303]);
});

test('the block of our page works', async () => {
  const stage = await served();
  const page = readFileSync('docs/http-api.md', 'utf8');
  const block = /location \/ \{([^}]*)\}/.exec(page)?.[1] ?? '';
  expect(block).toContain('http://127.0.0.1:8080');
  expect(await signInThrough(await startNginx(block.replaceAll('http://127.0.0.1:8080', stage.url)))).toEqual(
    [303, 303],
  );
});

test('without server.publicUrl a page of another origin changes nothing', async () => {
  const stage = await served(null);
  expect(await signInThrough(await startNginx(`proxy_pass ${stage.url};`))).toEqual([403, 401]);
});
