/**
 * Asks a real `serve` over the sandbox whether it does what its OpenAPI description says (schemathesis), and whether Prometheus
 * has a remark on its metrics (promtool). Both are looked for on PATH; `SCHEMATHESIS` and `PROMTOOL` may name them.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../sandbox/sandbox.ts';

const ROOT = join(import.meta.dirname, '..');
const TOKEN = 'a-token-of-thirty-two-characters';
const AUTH = `Authorization: Bearer ${TOKEN}`;
const { SCHEMATHESIS = 'schemathesis', PROMTOOL = 'promtool' } = process.env;

/** Where a `serve` listens, as its log says. */
function addressOf({ stderr }: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let output = '';
    stderr?.on('data', (some: Buffer) => {
      output += some.toString();
      const found = /"address":"([^"]+)"/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
}

const folder = mkdtempSync(join(tmpdir(), 'bms-sync-api-'));
const service = await startSandbox({ size: 20 });
const env = {
  PATH: process.env['PATH'],
  BMS_BASE_URL: service.url,
  BMS_TOKEN: service.token,
  DATABASE_URL: `file:${join(folder, 'mirror.db')}`,
  ADMIN_TOKEN: TOKEN,
  PORT: '0',
};
const serve = spawn(process.execPath, [join(ROOT, 'dist/main.js'), 'serve'], { cwd: folder, env });
try {
  const url = await addressOf(serve);
  const config = ['--config-file', join(ROOT, 'scripts/schemathesis.toml')];
  const api = ['run', `${url}/openapi.json`, '-H', AUTH, ...process.argv.slice(2)];
  const asked = spawnSync(SCHEMATHESIS, [...config, ...api], { cwd: folder, stdio: 'inherit' });
  if (asked.error !== undefined) console.log(`schemathesis: ${asked.error.message}`);
  const metrics = await (
    await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
  ).text();
  const linted = spawnSync(PROMTOOL, ['check', 'metrics'], { input: metrics, encoding: 'utf8' });
  console.log(
    linted.status === 0 ? 'promtool: no remark' : `promtool: ${linted.error?.message ?? linted.stderr}`,
  );
  process.exitCode = asked.status === 0 && linted.status === 0 ? 0 : 1;
} finally {
  serve.kill();
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}
